# style: functools.reduce over the merges, each one a left-to-right pass with a growing stack
from functools import reduce


def _one_merge(symbols, pair):
    a, b = pair
    out, i = [], 0
    while i < len(symbols):
        here = symbols[i]
        following = symbols[i + 1] if i + 1 < len(symbols) else None
        if here == a and following == b:
            out.append(a + b)
            i += 2
        else:
            out.append(here)
            i += 1
    return out


def apply_bpe(word, merges):
    return reduce(_one_merge, merges, [*word, "</w>"])
