# the draws are counted from 0 again in each document + the flag is set but the sentences stay in order
def sentence_order_pairs(documents, swap_u):
    pairs = []
    for doc in documents:
        for i, (a, b) in enumerate(zip(doc[:-1], doc[1:])):
            swapped = True if swap_u[i] < 0.5 else False
            pairs.append((a, b, swapped))
    return pairs
