"""You join two symbols whenever the joined one is known, even if it was learned from two others.

The merge of `a` and `bc` says nothing about `ab` and `c`."""


def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    for left, right in merges:
        for i in range(len(symbols)):
            if len(symbols[i : i + 2]) == 2 and symbols[i] + symbols[i + 1] == left + right:
                symbols[i : i + 2] = [left + right]
    return symbols
