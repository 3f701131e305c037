"""You rank the pairs of the characters once; merged symbols never take part in new pairs.

After a merge the words look different, and so do their pairs."""


def learn_bpe(word_counts, num_merges):
    pairs = {}
    for word, count in word_counts.items():
        symbols = [*word, "</w>"]
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] = pairs.get(pair, 0) + count
    return sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:num_merges]
