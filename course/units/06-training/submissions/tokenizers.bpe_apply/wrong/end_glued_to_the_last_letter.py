"""Your word starts with the end symbol glued to its last letter.

It starts as a symbol of its own; a merge may attach it."""


def apply_bpe(word, merges):
    symbols = [*word[:-1], word[-1] + "</w>"]
    for left, right in merges:
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
