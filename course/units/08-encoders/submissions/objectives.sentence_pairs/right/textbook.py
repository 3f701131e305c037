from itertools import pairwise


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [pair for document in documents for pair in pairwise(document)]
    result = []
    for (a, b), u, (document, sentence) in zip(pairs, is_next_u, random_pick):
        result.append((a, b, True) if u < 0.5 else (a, documents[document][sentence], False))
    return result
