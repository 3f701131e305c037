"""You replace the first sentence of the pair; the question is what comes after it."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [(a if u < 0.5 else documents[d][s], b, u < 0.5) for (a, b), u, (d, s) in zip(pairs, is_next_u, random_pick)]
