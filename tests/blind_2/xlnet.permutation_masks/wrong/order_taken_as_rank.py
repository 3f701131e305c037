# order[i] is taken as the step of position i: the permutation is not inverted
def permutation_masks(order):
    query = order[:, None] > order[None, :]
    content = order[:, None] >= order[None, :]
    return content, query
