# takes order[i] for the step of position i, without inverting the permutation
def permutation_masks(order):
    content = order[None, :] <= order[:, None]
    query = order[None, :] < order[:, None]
    return content, query
