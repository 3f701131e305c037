# first all pairs in one list, then one pass that swaps
def sentence_order_pairs(documents, swap_u):
    pairs = [(doc[i], doc[i + 1]) for doc in documents for i in range(len(doc) - 1)]
    flags = [bool(u < 0.5) for u in swap_u]
    return [(*(p[::-1] if s else p), s) for p, s in zip(pairs, flags)]
