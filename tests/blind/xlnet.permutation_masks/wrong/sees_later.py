# rows and columns exchanged: each position sees the later steps
def permutation_masks(order):
    step = torch.empty_like(order)
    step[order] = torch.arange(order.numel())
    i, j = torch.meshgrid(step, step, indexing="ij")
    query = i < j
    return query | (i == j), query
