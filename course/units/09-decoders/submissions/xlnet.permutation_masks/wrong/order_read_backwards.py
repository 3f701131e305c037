"""You read `order[t]` as the step at which position t comes; it is the position that comes at step t.

A permutation and its inverse agree for two positions and for many tests; not for three in a circle."""


def permutation_masks(order):
    step = order
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content, query
