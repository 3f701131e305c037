# the weights are summed over the queries instead of the keys + w_o is split with the head as the inner index
def head_contributions(weights, v, w_o):
    H, D = v.shape[1], v.shape[3]
    W = w_o.view(w_o.shape[0], D, H)
    mixed = torch.einsum("bhkq,bhkd->bhqd", weights, v)
    return torch.einsum("bhqd,edh->bhqe", mixed, W)
