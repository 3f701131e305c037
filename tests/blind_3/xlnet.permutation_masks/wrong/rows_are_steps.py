# row t is step t instead of position t, only the columns are in the order
def permutation_masks(order):
    L = order.shape[0]
    content = torch.zeros((L, L), dtype=torch.bool)
    query = torch.zeros((L, L), dtype=torch.bool)
    for t in range(L):
        content[t, order[:t + 1]] = True
        query[t, order[:t]] = True
    return content, query
