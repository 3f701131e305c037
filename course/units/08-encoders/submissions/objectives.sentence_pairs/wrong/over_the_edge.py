"""The last sentence of a document is paired with the first one of the next, which does not follow it at all."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    flat = [sentence for document in documents for sentence in document]
    result = []
    for a, b, u, (d, s) in zip(flat, flat[1:], is_next_u, random_pick):
        result.append((a, b if u < 0.5 else documents[d][s], u < 0.5))
    return result
