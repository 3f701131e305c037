from functools import reduce


def put(done, symbol, left, right):
    """`done` is the list so far and whether its last symbol is free to be merged."""
    symbols, free = done
    if free and symbols[-1] == left and symbol == right:
        return [*symbols[:-1], left + right], False
    return [*symbols, symbol], True


def apply_bpe(word, merges):
    def merge(symbols, pair):
        return reduce(lambda done, symbol: put(done, symbol, *pair), symbols, ([], False))[0]

    return reduce(merge, merges, [*word, "</w>"])
