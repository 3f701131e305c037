"""You apply the merges from the last to the first.

A late merge joins symbols that earlier ones have made."""


def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    for left, right in reversed(merges):
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
