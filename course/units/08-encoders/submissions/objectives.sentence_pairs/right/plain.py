def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [pair for document in documents for pair in zip(document, document[1:])]
    return [(a, b if u < 0.5 else documents[d][s], u < 0.5) for (a, b), u, (d, s) in zip(pairs, is_next_u, random_pick)]
