"""You return the query mask first; the first is the content mask."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return query, content
