# the documents are joined first, so the last sentence of one is paired with the first of the next
def next_sentence_pairs(documents, is_next_u, random_pick):
    all_sents = []
    for d in documents:
        all_sents += d
    res = []
    for i in range(min(len(all_sents) - 1, len(is_next_u))):
        if is_next_u[i] < 0.5:
            res.append((all_sents[i], all_sents[i + 1], True))
        else:
            d, s = random_pick[i]
            res.append((all_sents[i], documents[d][s], False))
    return res
