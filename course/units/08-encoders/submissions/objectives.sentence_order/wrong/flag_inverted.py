"""Your flag is True where the order is right; it asks whether the two were swapped."""


def sentence_order_pairs(documents, swap_u):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [(b, a, False) if u < 0.5 else (a, b, True) for (a, b), u in zip(pairs, swap_u)]
