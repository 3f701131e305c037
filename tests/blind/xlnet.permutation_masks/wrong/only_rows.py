# puts the rows of the triangle in their places, but leaves the columns in the order of the steps
def permutation_masks(order):
    L = order.shape[0]
    content = torch.zeros(L, L).bool()
    query = torch.zeros(L, L).bool()
    for t in range(L):
        content[order[t], :t + 1] = True
        query[order[t], :t] = True
    return content, query
