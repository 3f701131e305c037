"""Your pairs do not overlap; every sentence but the last one of a document begins a pair."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [pair for document in documents for pair in zip(document[::2], document[1::2])]
    return [(a, b if u < 0.5 else documents[d][s], u < 0.5) for (a, b), u, (d, s) in zip(pairs, is_next_u, random_pick)]
