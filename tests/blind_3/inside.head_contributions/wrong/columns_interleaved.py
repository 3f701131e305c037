# head h gets the columns h, h + H, h + 2H ... instead of a block
def head_contributions(weights, v, w_o):
    B, H, Q, K = weights.shape
    z = torch.einsum("bhqk,bhkd->bhqd", weights, v)
    res = []
    for h in range(H):
        res.append(z[:, h] @ w_o[:, h::H].T)
    return torch.stack(res, 1)
