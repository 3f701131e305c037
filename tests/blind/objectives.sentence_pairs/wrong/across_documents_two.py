# pairs the last sentence of a document with the first of the next + keeps the true sentence for u >= 0.5
def next_sentence_pairs(documents, is_next_u, random_pick):
    all_sentences = sum(documents, [])
    res = []
    for k in range(len(all_sentences) - 1):
        if k >= len(is_next_u):
            break
        if is_next_u[k] >= 0.5:
            res.append((all_sentences[k], all_sentences[k + 1], True))
        else:
            res.append((all_sentences[k], documents[random_pick[k][0]][random_pick[k][1]], False))
    return res
