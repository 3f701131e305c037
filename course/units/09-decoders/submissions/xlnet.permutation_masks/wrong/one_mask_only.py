"""You return one mask; each stream has its own.

The state that others read and the state that predicts may not see the same."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content
