# the index into draws and picks starts again at 0 in every document
def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = []
    for document in documents:
        for k, (a, b) in enumerate(pairwise(document)):
            keep = is_next_u[k] < 0.5
            if not keep:
                doc, sent = random_pick[k]
                b = documents[doc][sent]
            pairs.append((a, b, keep))
    return pairs
