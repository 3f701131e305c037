"""You count the pairs of characters only once, so merged symbols never take part in new pairs.

After each merge the words consist of different symbols, so their pairs are different too.
"""


def learn_bpe(word_counts, num_merges):
    pairs = {}
    for word, count in word_counts.items():
        symbols = [*word, "</w>"]
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] = pairs.get(pair, 0) + count
    return sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:num_merges]
