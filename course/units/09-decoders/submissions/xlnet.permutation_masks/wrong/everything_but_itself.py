"""Your query stream sees every other word, whatever the order: that is filling in a blank.

The words of later steps are to be predicted themselves, from this one too."""


def permutation_masks(order):
    step = order.argsort()
    query = step[:, None] != step[None, :]
    content = query | ~query
    return content, query
