# the flag says whether the pair is in the right order instead of whether it was swapped
def sentence_order_pairs(documents, swap_u):
    out, k = [], 0
    for doc in documents:
        for a, b in pairwise(doc):
            if swap_u[k] < 0.5:
                out.append((b, a, False))
            else:
                out.append((a, b, True))
            k += 1
    return out
