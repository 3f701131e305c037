# a tie goes to the pair that was met first, not to the first in the alphabet
def learn_bpe(word_counts, num_merges):
    if num_merges < 0:
        raise ValueError("num_merges must not be negative")
    if not hasattr(word_counts, "items"):
        raise TypeError("word_counts must be a dict")
    words = {w: list(w) + ["</w>"] for w in word_counts}
    merges = []
    for _ in range(num_merges):
        freq = {}
        for w, syms in words.items():
            for i in range(len(syms) - 1):
                p = (syms[i], syms[i + 1])
                freq[p] = freq.get(p, 0) + word_counts[w]
        if not freq:
            break
        best = max(freq, key=freq.get)
        merges.append(best)
        for w, syms in words.items():
            i = 0
            while i < len(syms) - 1:
                if (syms[i], syms[i + 1]) == best:
                    syms[i : i + 2] = [syms[i] + syms[i + 1]]
                i += 1
    return merges
