"""You stop as soon as no pair occurs twice.

The paper's own code has such a threshold. Here the only reasons to stop are the number of merges and that nothing is left."""


def learn_bpe(word_counts, num_merges):
    words = [([*word, "</w>"], count) for word, count in word_counts.items()]
    merges = []
    while len(merges) < num_merges:
        pairs = {}
        for symbols, count in words:
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] = pairs.get(pair, 0) + count
        if not pairs or max(pairs.values()) < 2:
            break
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append((left, right))
        for symbols, _ in words:
            for i in range(len(symbols)):
                if symbols[i : i + 2] == [left, right]:
                    symbols[i : i + 2] = [left + right]
    return merges
