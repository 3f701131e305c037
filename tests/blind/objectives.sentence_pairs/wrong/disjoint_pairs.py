# pairs do not overlap: steps over the document by two sentences
def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = []
    n = 0
    for document in documents:
        for i in range(0, len(document) - 1, 2):
            a = document[i]
            if is_next_u[n] < 0.5:
                b, label = document[i + 1], True
            else:
                which = random_pick[n]
                b, label = documents[which[0]][which[1]], False
            pairs.append((a, b, label))
            n += 1
    return pairs
