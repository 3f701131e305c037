# u < 0.5 takes the random sentence instead of the true one + the counter of draws starts again in each document
def next_sentence_pairs(documents, is_next_u, random_pick):
    out = []
    for doc in documents:
        for i in range(len(doc) - 1):
            a = doc[i]
            if is_next_u[i] < 0.5:
                which_doc, which_sent = random_pick[i]
                out.append((a, documents[which_doc][which_sent], False))
            else:
                out.append((a, doc[i + 1], True))
    return out
