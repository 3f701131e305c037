"""In each document you begin with the first draw again; the list runs on through all documents."""


def sentence_order_pairs(documents, swap_u):
    return [
        (b, a, True) if u < 0.5 else (a, b, False)
        for document in documents
        for a, b, u in zip(document, document[1:], swap_u)
    ]
