"""You let the first position of the order see itself, so as not to have an empty row.

An empty row is right there: the first word is predicted from nothing. The attention has to cope with it, and yours does."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] > step[None, :]
    query[order[0], order[0]] = True
    return content, query
