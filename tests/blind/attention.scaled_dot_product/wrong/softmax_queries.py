# takes the softmax over the queries (axis -2) instead of the keys
def _softmax(x, axis):
    x = x - x.max(axis, keepdim=True).values
    e = torch.exp(x)
    return e / e.sum(axis, keepdim=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        m = mask.expand(s.shape)
        s = torch.where(m, s, torch.tensor(-1e9, dtype=s.dtype))
        w = _softmax(s, -2) * m
    else:
        w = _softmax(s, -2)
    return torch.einsum("...ij,...jd->...id", w, v), w
