"""You swap the sentences within the document, so the next pair begins with a sentence that was moved. Only the two sentences of the pair should be swapped."""


def sentence_order_pairs(documents, swap_u):
    result, draws = [], iter(swap_u)
    for document in documents:
        order = list(document)
        for i in range(len(order) - 1):
            swapped = next(draws) < 0.5
            if swapped:
                order[i], order[i + 1] = order[i + 1], order[i]
            result.append((order[i], order[i + 1], swapped))
    return result
