# returns (query, content) in the wrong order + rows and columns are exchanged
def permutation_masks(order):
    rank = torch.argsort(order)
    later = rank[None, :] - rank[:, None]
    q_mask = later > 0
    c_mask = later >= 0
    return q_mask, c_mask
