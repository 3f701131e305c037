# all documents are joined first, so the last sentence of one is paired with the first of the next
def next_sentence_pairs(documents, is_next_u, random_pick):
    sentences = [s for d in documents for s in d]
    out = []
    for (a, b), u, (i, j) in zip(pairwise(sentences), is_next_u, random_pick):
        if u < 0.5:
            out.append((a, b, True))
        else:
            out.append((a, documents[i][j], False))
    return out
