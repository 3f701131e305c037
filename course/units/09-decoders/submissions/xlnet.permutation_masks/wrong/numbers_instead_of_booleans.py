"""Your masks hold numbers; a mask is boolean.

What is added to the scores and what says who may look are two different things."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content.float(), query.float()
