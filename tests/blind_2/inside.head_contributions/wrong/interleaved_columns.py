# head h takes every H-th column of w_o (reshaped as [E,D,H]) instead of a block
def head_contributions(weights, v, w_o):
    n_heads = weights.shape[1]
    w = w_o.reshape(w_o.shape[0], -1, n_heads).permute(2, 1, 0)  # [H,D,E]
    return torch.matmul(weights, v) @ w
