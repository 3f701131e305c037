# row t is the step t instead of the position: only the columns are permuted
def permutation_masks(order):
    L = order.shape[0]
    content = torch.zeros((L, L), dtype=torch.bool)
    query = torch.zeros((L, L), dtype=torch.bool)
    for t in range(L):
        content[t, order[: t + 1]] = True
        query[t, order[:t]] = True
    return content, query
