"""You leave out the pairs that do not follow; a question with one answer only teaches nothing."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [(a, b, True) for (a, b), u in zip(pairs, is_next_u) if u < 0.5]
