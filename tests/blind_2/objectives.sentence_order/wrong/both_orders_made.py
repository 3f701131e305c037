# gives each pair in both orders (one swapped, one not) instead of one of them by the draw
def sentence_order_pairs(documents, swap_u):
    result = []
    n = 0
    for d in documents:
        i = 0
        while i + 1 < len(d):
            u = swap_u[n]
            result.append((d[i], d[i + 1], False))
            if u < 0.5:
                result.append((d[i + 1], d[i], True))
            n += 1
            i += 1
    return result
