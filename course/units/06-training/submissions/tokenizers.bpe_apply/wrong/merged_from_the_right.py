"""You merge from right to left, so a run of three is cut in another place.

In `aaa` the first two belong together, then one is left over."""


def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    for left, right in merges:
        for i in reversed(range(len(symbols))):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
