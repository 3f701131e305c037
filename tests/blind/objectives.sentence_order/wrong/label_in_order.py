# the label says "in the right order" (as in next sentence prediction) instead of "swapped"
def sentence_order_pairs(documents, swap_u):
    draws = iter(swap_u)
    result = []
    for doc in documents:
        for a, b in pairwise(doc):
            swap = bool(next(draws) < 0.5)
            result.append((b, a, not swap) if swap else (a, b, not swap))
    return result
