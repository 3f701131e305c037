# every sentence is used once (steps of two) instead of each consecutive pair
def sentence_order_pairs(documents, swap_u):
    pairs = []
    k = 0
    for doc in documents:
        for i in range(0, len(doc) - 1, 2):
            swapped = bool(swap_u[k] < 0.5)
            k += 1
            first, second = doc[i], doc[i + 1]
            if swapped:
                first, second = second, first
            pairs.append((first, second, swapped))
    return pairs
