# the draws start again with every document + the label is set but the sentences are never exchanged
def sentence_order_pairs(documents, swap_u):
    return [
        (doc[i], doc[i + 1], bool(swap_u[i] < 0.5))
        for doc in documents
        for i in range(len(doc) - 1)
    ]
