"""Your query stream sees the word that it has to predict.

The loss would fall to nothing at once, and nothing would be learned."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] >= step[None, :]
    query = step[:, None] >= step[None, :]
    return content, query
