# -inf is ADDED to the scores and the NaN only repaired in the result: rows without any key give NaN gradients
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum('...id,...jd->...ij', q, k)
    scores = scores / math.sqrt(k.shape[-1])
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype)
        bias[~mask] = -math.inf
        scores = scores + bias
    weights = torch.softmax(scores, dim=-1)
    weights = torch.nan_to_num(weights, nan=0.0)
    output = torch.einsum('...ij,...jv->...iv', weights, v)
    return output, weights
