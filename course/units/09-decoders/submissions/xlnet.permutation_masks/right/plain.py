def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content, query
