# divides by D instead of the square root of D
def scaled_dot_product_attention(q, k, v, mask=None):
    d_k = q.size(-1)
    scores = q @ k.transpose(-2, -1) / d_k
    if mask is None:
        weights = F.softmax(scores, dim=-1)
    else:
        lowest = torch.finfo(scores.dtype).min
        weights = F.softmax(scores.masked_fill(~mask, lowest), dim=-1)
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
