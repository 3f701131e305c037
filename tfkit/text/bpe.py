"""Byte-pair encoding by hand (Sennrich et al. 2016): frequent neighbours become one symbol."""


def learn_bpe(word_counts, num_merges):
    """The first `num_merges` merges, in the order learned; fewer when nothing is left to merge.

    A word starts as its characters followed by `</w>`. Each round merges the most frequent adjacent pair (overlapping
    ones count too), from left to right; ties go to the lexicographically smallest pair. Raises ValueError for a
    negative number of merges, TypeError if `word_counts` is not a dict from words to counts.
    """
    if num_merges < 0:
        raise ValueError(f"num_merges={num_merges}: give how many merges to learn, 0 or more")
    if not hasattr(word_counts, "items"):
        raise TypeError(
            f"word_counts is a {type(word_counts).__name__}: give a dict from words to how often each occurs"
        )
    words = [([*word, "</w>"], count) for word, count in word_counts.items()]
    merges: list[tuple[str, str]] = []
    while len(merges) < num_merges:
        pairs: dict[tuple[str, str], int] = {}
        for symbols, count in words:
            for pair in zip(symbols, symbols[1:], strict=False):
                pairs[pair] = pairs.get(pair, 0) + count
        if not pairs:
            break
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append((left, right))
        for symbols, _ in words:
            for i in range(len(symbols)):  # the list shrinks on the way; past its end nothing matches
                if symbols[i : i + 2] == [left, right]:
                    symbols[i : i + 2] = [left + right]
    return merges


def apply_bpe(word, merges):
    """The symbols of `word`, `</w>` shown: each merge once, in the order learned."""
    symbols = [*word, "</w>"]
    for left, right in merges:
        for i in range(len(symbols)):  # the list shrinks on the way; past its end nothing matches
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
