def head_contributions(weights, v, w_o):
    batch, heads, keys, width = v.shape
    per_head = w_o.reshape(-1, heads, width).permute(1, 2, 0)  # [H,D,E]
    return weights @ (v @ per_head)
