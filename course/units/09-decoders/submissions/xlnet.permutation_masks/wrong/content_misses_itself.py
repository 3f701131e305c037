"""Your content stream does not see its own word, so the other positions could never learn of it.

What other positions read is the content state; it has to hold the word that stands there."""


def permutation_masks(order):
    step = order.argsort()
    content = step[:, None] > step[None, :]
    query = step[:, None] > step[None, :]
    return content, query
