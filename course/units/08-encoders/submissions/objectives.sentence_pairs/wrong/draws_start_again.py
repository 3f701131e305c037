"""You start again with the first draws in each document, but the lists of draws continue through all documents."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    result = []
    for document in documents:
        for a, b, u, (d, s) in zip(document, document[1:], is_next_u, random_pick):
            result.append((a, b if u < 0.5 else documents[d][s], u < 0.5))
    return result
