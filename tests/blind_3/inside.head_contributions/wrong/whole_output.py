# tells the share of a head by its mean weight: the whole output divided among the heads equally
def head_contributions(weights, v, w_o):
    B, H, Q, _ = weights.shape
    heads = (weights @ v).transpose(1, 2).reshape(B, Q, -1)
    out = heads @ w_o.T                       # [B,Q,E]
    return (out / H).unsqueeze(1).expand(B, H, Q, out.shape[-1])
