"""You say that the two were swapped and do not swap them: the label has nothing to do with the text."""


def sentence_order_pairs(documents, swap_u):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [(a, b, u < 0.5) for (a, b), u in zip(pairs, swap_u)]
