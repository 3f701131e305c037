def sentence_order_pairs(documents, swap_u):
    result = []
    for document in documents:
        for i in range(1, len(document)):
            first, second = document[i - 1], document[i]
            swapped = swap_u[len(result)] < 0.5
            if swapped:
                first, second = second, first
            result.append((first, second, swapped))
    return result
