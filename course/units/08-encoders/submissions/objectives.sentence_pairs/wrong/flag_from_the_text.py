"""You set the flag by comparing the sentences, but it should depend only on the draw, even when the random pick happens to be the true successor."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    result = []
    for (a, b), u, (d, s) in zip(pairs, is_next_u, random_pick):
        second = b if u < 0.5 else documents[d][s]
        result.append((a, second, second == b))
    return result
