# a tie goes to the pair seen first, not to the lexicographically smallest
def learn_bpe(word_counts, num_merges):
    if not isinstance(word_counts, dict):
        raise TypeError("word_counts must be a dict")
    if num_merges < 0:
        raise ValueError("num_merges must be >= 0")
    vocab = {tuple(w) + ("</w>",): c for w, c in word_counts.items()}
    merges = []
    for _ in range(num_merges):
        pairs = {}
        for sym, c in vocab.items():
            for i in range(len(sym) - 1):
                p = (sym[i], sym[i + 1])
                pairs[p] = pairs.get(p, 0) + c
        if len(pairs) == 0:
            break
        best = max(pairs, key=pairs.get)
        merges.append(best)
        new_vocab = {}
        for sym, c in vocab.items():
            out, i = [], 0
            while i < len(sym):
                if i + 1 < len(sym) and (sym[i], sym[i + 1]) == best:
                    out.append(sym[i] + sym[i + 1])
                    i += 2
                else:
                    out.append(sym[i])
                    i += 1
            new_vocab[tuple(out)] = c
        vocab = new_vocab
    return merges
