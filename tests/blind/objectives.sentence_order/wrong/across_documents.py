# puts all documents into one list, so pairs cross the border between two documents
def sentence_order_pairs(documents, swap_u):
    sentences = sum((list(doc) for doc in documents), [])
    out = []
    for (a, b), u in zip(pairwise(sentences), swap_u):
        if u < 0.5:
            out.append((b, a, True))
        else:
            out.append((a, b, False))
    return out
