"""Your flag is 0 or 1; it should be False or True."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [
        (a, b, 1) if u < 0.5 else (a, documents[d][s], 0) for (a, b), u, (d, s) in zip(pairs, is_next_u, random_pick)
    ]
