"""Byte-pair encoding by hand (Sennrich et al. 2016): frequent neighbours become one symbol."""


def learn_bpe(word_counts, num_merges):
    """The first `num_merges` merges, in the order learned; fewer when nothing is left to merge.

    A word starts as its characters followed by `</w>`. Each round merges the most frequent adjacent pair (overlapping
    ones count too); ties go to the lexicographically smallest pair.
    """
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        pairs: dict[tuple[str, str], int] = {}
        for word, symbols in words.items():
            for pair in zip(symbols, symbols[1:], strict=False):
                pairs[pair] = pairs.get(pair, 0) + word_counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = {word: merge_pair(symbols, best) for word, symbols in words.items()}
    return merges


def apply_bpe(word, merges):
    """The symbols of `word`, `</w>` shown: each merge once, in the order learned."""
    symbols = [*word, "</w>"]
    for pair in merges:
        symbols = merge_pair(symbols, pair)
    return symbols


def merge_pair(symbols, pair):
    """`symbols` with every `pair` joined, from left to right."""
    merged = []
    i = 0
    while i < len(symbols):
        joined = tuple(symbols[i : i + 2]) == pair
        merged.append("".join(pair) if joined else symbols[i])
        i += 2 if joined else 1
    return merged
