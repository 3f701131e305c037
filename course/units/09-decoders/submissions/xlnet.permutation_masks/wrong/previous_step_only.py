"""Your query stream sees the word of the step before and no other.

Each prediction may use all that was predicted earlier."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] - 1 == step[None, :]
    return content, query
