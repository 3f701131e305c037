def sentence_order_pairs(documents, swap_u):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [(b, a, True) if u < 0.5 else (a, b, False) for (a, b), u in zip(pairs, swap_u)]
