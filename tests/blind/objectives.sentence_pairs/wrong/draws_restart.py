# starts again with the first draw in every document
def next_sentence_pairs(documents, is_next_u, random_pick):
    result = []
    for doc in documents:
        for i, (a, b) in enumerate(pairwise(doc)):
            if is_next_u[i] < 0.5:
                result.append((a, b, True))
            else:
                d, s = random_pick[i]
                result.append((a, documents[d][s], False))
    return result
