def learn_bpe(word_counts, num_merges):
    words, merges = {tuple(word) + ("</w>",): count for word, count in word_counts.items()}, []
    for _ in range(num_merges):
        found = {}
        for symbols, count in words.items():
            for n in range(len(symbols) - 1):
                found[symbols[n : n + 2]] = found.get(symbols[n : n + 2], 0) + count
        if not found:
            break
        most = max(found.values())
        best = max(pair for pair in found if found[pair] == most)
        merges.append(best)
        words = {merged(symbols, best): count for symbols, count in words.items()}
    return merges


def merged(symbols, pair):
    out = []
    for symbol in symbols:
        if out and (out[-1], symbol) == pair:
            out[-1] = out[-1] + symbol
        else:
            out.append(symbol)
    return tuple(out)
