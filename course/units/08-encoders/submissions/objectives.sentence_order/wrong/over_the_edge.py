"""The last sentence of a document is paired with the first one of the next; between them there is no order to find."""


def sentence_order_pairs(documents, swap_u):
    flat = [sentence for document in documents for sentence in document]
    return [(b, a, True) if u < 0.5 else (a, b, False) for a, b, u in zip(flat, flat[1:], swap_u)]
