"""Your positions see what is predicted after them.

What has not been predicted yet cannot be known. A row is who looks, a column is what is looked at; are they exchanged?"""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] <= step[None, :]
    query = step[:, None] < step[None, :]
    return content, query
