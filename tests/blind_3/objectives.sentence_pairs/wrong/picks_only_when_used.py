# a random pick is consumed only when it is used, so the picks get out of step
def next_sentence_pairs(documents, is_next_u, random_pick):
    us = iter(is_next_u)
    picks = iter(random_pick)
    result = []
    for doc in documents:
        for i in range(len(doc) - 1):
            if next(us) < 0.5:
                result.append((doc[i], doc[i + 1], True))
            else:
                d, s = next(picks)
                result.append((doc[i], documents[d][s], False))
    return result
