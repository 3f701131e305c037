# leaves out the end-of-word symbol + a tie goes to the largest pair
def learn_bpe(word_counts, num_merges):
    if isinstance(word_counts, (str, list, tuple, set)) or word_counts is None:
        raise TypeError("need word counts")
    if num_merges < 0:
        raise ValueError("need num_merges >= 0")
    corpus = [[list(w), n] for w, n in dict(word_counts).items()]
    merges = []
    for step in range(num_merges):
        freq = {}
        for chars, n in corpus:
            for a, b in zip(chars[:-1], chars[1:]):
                freq[(a, b)] = freq.get((a, b), 0) + n
        if not freq:
            break
        n, best = max((n, p) for p, n in freq.items())
        merges.append(best)
        for item in corpus:
            chars = item[0]
            i = 0
            while i < len(chars) - 1:
                if (chars[i], chars[i + 1]) == best:
                    chars[i:i + 2] = [chars[i] + chars[i + 1]]
                i += 1
    return merges
