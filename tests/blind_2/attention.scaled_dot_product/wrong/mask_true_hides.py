# mask read the wrong way round: True is treated as "hidden"
def scaled_dot_product_attention(q, k, v, mask=None):
    scale = 1 / math.sqrt(q.shape[-1])
    s = torch.matmul(q * scale, k.mT)
    if mask is None:
        a = F.softmax(s, -1)
        return a @ v, a
    visible = (~mask).expand_as(s)
    some = visible.any(-1, keepdim=True)
    s = torch.where(visible, s, torch.tensor(-1e30, dtype=s.dtype))
    a = F.softmax(s, dim=-1) * some
    return torch.matmul(a, v), a
