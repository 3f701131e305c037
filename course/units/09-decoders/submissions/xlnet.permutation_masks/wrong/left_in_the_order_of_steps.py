"""Row t of your masks belongs to the position predicted at step t; row i must belong to position i.

The text is not moved: the words keep their places, and only who sees whom changes."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    return content[order], query[order]
