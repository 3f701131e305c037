"""You start again with the first draw in each document, but the list of draws continues through all documents."""


def sentence_order_pairs(documents, swap_u):
    return [
        (b, a, True) if u < 0.5 else (a, b, False)
        for document in documents
        for a, b, u in zip(document, document[1:], swap_u)
    ]
