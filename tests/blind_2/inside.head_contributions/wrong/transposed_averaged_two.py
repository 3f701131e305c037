# the weights are applied transposed (a sum over the queries) + every head is divided by H
def head_contributions(weights, v, w_o):
    B, H, Q, K = weights.shape
    w_heads = torch.stack(w_o.chunk(H, dim=1))  # H,E,D
    ctx = weights.transpose(-1, -2) @ v
    return torch.einsum('bhqd,hed->bhqe', ctx, w_heads) / H
