def sentence_order_pairs(documents, swap_u):
    draws = iter(swap_u)
    result = []
    for document in documents:
        for start in range(len(document) - 1):
            swapped = next(draws) < 0.5
            pair = document[start : start + 2]
            result.append((*(reversed(pair) if swapped else pair), swapped))
    return result
