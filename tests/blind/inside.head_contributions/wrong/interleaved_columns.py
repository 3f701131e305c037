# reads the columns as [D,H] instead of [H,D], so each head gets every H-th column
def head_contributions(weights, v, w_o):
    E = w_o.shape[0]
    _, H, _, D = v.shape
    w = w_o.reshape(E, D, H)
    return torch.einsum("bhqk,bhkd,edh->bhqe", weights, v, w)
