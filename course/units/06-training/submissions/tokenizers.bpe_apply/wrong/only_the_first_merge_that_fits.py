"""You stop after the first merge that finds something.

What it has made may be half of a later merge."""


def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    for left, right in merges:
        before = len(symbols)
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
        if len(symbols) < before:
            break
    return symbols
