"""You take the next random pick only when you need one, but there is one pick for each pair, whether it is used or not."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs, picks = [pair for document in documents for pair in zip(document, document[1:])], iter(random_pick)
    result = []
    for (a, b), u in zip(pairs, is_next_u):
        if u >= 0.5:
            d, s = next(picks)
            b = documents[d][s]
        result.append((a, b, u < 0.5))
    return result
