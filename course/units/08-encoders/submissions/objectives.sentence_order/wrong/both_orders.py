"""You give each pair in both orders; the draw decides for one of them."""


def sentence_order_pairs(documents, swap_u):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [one for (a, b), _ in zip(pairs, swap_u) for one in ((a, b, False), (b, a, True))]
