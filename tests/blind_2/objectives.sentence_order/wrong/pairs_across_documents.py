# also pairs the last sentence of a document with the first of the next
def sentence_order_pairs(documents, swap_u):
    text = [s for d in documents for s in d]
    res = []
    for (first, second), u in zip(zip(text, text[1:]), swap_u):
        swapped = bool(u < 0.5)
        if swapped:
            first, second = second, first
        res.append((first, second, swapped))
    return res
