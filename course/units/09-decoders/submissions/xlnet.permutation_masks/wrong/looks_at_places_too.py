"""You also hide what stands to the right, so only earlier words on the left are left over.

The point of an arbitrary order is that words on both sides can be context."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    left = order.new_ones(len(order), len(order)).tril() > 0
    return content & left, query & left
