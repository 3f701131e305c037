"""Your pairs do not overlap; each sentence is paired with the one after it, so most of them are in two pairs."""


def sentence_order_pairs(documents, swap_u):
    pairs = [pair for document in documents for pair in zip(document[::2], document[1::2])]
    return [(b, a, True) if u < 0.5 else (a, b, False) for (a, b), u in zip(pairs, swap_u)]
