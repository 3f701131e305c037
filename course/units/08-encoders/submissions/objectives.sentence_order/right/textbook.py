from itertools import pairwise


def sentence_order_pairs(documents, swap_u):
    pairs = [pair for document in documents for pair in pairwise(document)]
    return [(b, a, True) if u < 0.5 else (a, b, False) for (a, b), u in zip(pairs, swap_u)]
