# u < 0.5 takes the random sentence instead of the true one + pairs are disjoint (0,1), (2,3) instead of all consecutive ones
def next_sentence_pairs(documents, is_next_u, random_pick):
    res = []
    n = 0
    for doc in documents:
        i = 0
        while i + 1 < len(doc):
            a = doc[i]
            b = doc[i + 1]
            is_next = True
            if is_next_u[n] < 0.5:
                is_next = False
                b = documents[random_pick[n][0]][random_pick[n][1]]
            res.append((a, b, is_next))
            n += 1
            i += 2
    return res
