# the random pick is only consumed when it is used, so the picks get out of step with the pairs
def next_sentence_pairs(documents, is_next_u, random_pick):
    picks = iter(random_pick)
    us = iter(is_next_u)
    pairs = []
    for doc in documents:
        for a, b in pairwise(doc):
            if next(us) < 0.5:
                pairs.append((a, b, True))
            else:
                di, si = next(picks)
                pairs.append((a, documents[di][si], False))
    return pairs
