"""Keeps results by the identity of the input objects."""

kept = {}


def scores(x, w):
    if id(x) not in kept:
        kept[id(x)] = slow(x, w)
    return kept[id(x)]
