"""Your columns stand in the order of prediction; column j must belong to position j.

Rows and columns count the same places, those of the text."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content[:, order], query[:, order]
