"""You remove the merges that you have applied from the list that you are given; the caller needs it for the next word.

Work on a copy, or only read."""


def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    while merges:
        left, right = merges.pop(0)
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
