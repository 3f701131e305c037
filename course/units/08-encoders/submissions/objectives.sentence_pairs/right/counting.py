def next_sentence_pairs(documents, is_next_u, random_pick):
    result, n = [], 0
    for document in documents:
        for i in range(len(document) - 1):
            is_next = is_next_u[n] < 0.5
            d, s = random_pick[n]
            result.append((document[i], document[i + 1] if is_next else documents[d][s], is_next))
            n += 1
    return result
