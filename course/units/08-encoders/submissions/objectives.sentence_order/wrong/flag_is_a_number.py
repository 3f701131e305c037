"""Your flag is 0 or 1; it should be False or True."""


def sentence_order_pairs(documents, swap_u):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [(b, a, 1) if u < 0.5 else (a, b, 0) for (a, b), u in zip(pairs, swap_u)]
