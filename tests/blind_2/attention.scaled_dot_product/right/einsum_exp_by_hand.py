# style: einsum, the softmax written out with exp and a shifted maximum
def scaled_dot_product_attention(q, k, v, mask=None):
    e = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
    if mask is None:
        mask = torch.ones(e.shape[-2:], dtype=torch.bool, device=e.device)
    mask = mask.expand(e.shape)
    # largest allowed score per row (0 if there is none)
    top = e.detach().masked_fill(~mask, -math.inf).amax(-1, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    shifted = torch.where(mask, e - top, torch.zeros_like(e))
    ex = torch.exp(shifted) * mask.to(e.dtype)
    z = ex.sum(-1, keepdim=True)
    w = ex / torch.where(z == 0, torch.ones_like(z), z)
    return torch.einsum("...qk,...kv->...qv", w, v), w
