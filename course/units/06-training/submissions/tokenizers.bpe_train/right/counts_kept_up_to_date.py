def pairs_of(symbols):
    return list(zip(symbols, symbols[1:]))


def learn_bpe(word_counts, num_merges):
    words = [[tuple(word) + ("</w>",), count] for word, count in word_counts.items()]
    counts = {}

    def add(symbols, amount):
        for pair in pairs_of(symbols):
            counts[pair] = counts.get(pair, 0) + amount
            if counts[pair] == 0:
                del counts[pair]

    for symbols, count in words:
        add(symbols, count)
    merges = []
    while counts and len(merges) < num_merges:
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
        merges.append(best)
        for entry in words:
            symbols, count = entry
            if best not in pairs_of(symbols):
                continue
            add(symbols, -count)
            merged = []
            for symbol in symbols:  # `open` marks that the last symbol has not been used up by a merge
                if merged and merged[-1] == (best[0], True) and symbol == best[1]:
                    merged[-1] = ("".join(best), False)
                else:
                    merged.append((symbol, True))
            entry[0] = tuple(symbol for symbol, _ in merged)
            add(entry[0], count)
    return merges
