"""You swap sentences in the documents that were passed in, so the caller's text is out of order afterwards."""


def sentence_order_pairs(documents, swap_u):
    result, draws = [], iter(swap_u)
    for document in documents:
        before = list(document)
        for i in range(len(before) - 1):
            swapped = next(draws) < 0.5
            a, b = before[i], before[i + 1]
            if swapped:
                document[i], document[i + 1] = b, a
            result.append((b, a, True) if swapped else (a, b, False))
    return result
