"""Your word has no end symbol, so merges with it never happen.

Learning put one at the end of each word; applying has to see the same."""


def apply_bpe(word, merges):
    symbols = [*word]
    for left, right in merges:
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    return symbols
