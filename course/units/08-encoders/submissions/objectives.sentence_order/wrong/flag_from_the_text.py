"""You set the flag by comparing the sentences, so it is False for two equal sentences even if they were swapped. It should depend only on the draw."""


def sentence_order_pairs(documents, swap_u):
    result, pairs = [], [pair for document in documents for pair in zip(document, document[1:])]
    for (a, b), u in zip(pairs, swap_u):
        first, second = (b, a) if u < 0.5 else (a, b)
        result.append((first, second, first != a))
    return result
