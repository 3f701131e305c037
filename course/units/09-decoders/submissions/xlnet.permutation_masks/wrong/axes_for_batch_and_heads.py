"""You add axes for batch and heads; the masks of one order are asked for."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content[None, None], query[None, None]
