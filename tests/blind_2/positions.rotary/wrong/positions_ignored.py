# the argument positions is ignored: always 0 ... L-1
def apply_rotary(x, positions, base=10000.0):
    L, D = x.shape[-2:]
    p = torch.arange(L, dtype=x.dtype)
    i = torch.arange(D // 2, dtype=x.dtype)
    theta = torch.outer(p, base ** (-2 * i / D))
    even, odd = x[..., 0::2], x[..., 1::2]
    out = torch.zeros_like(x)
    out[..., 0::2] = even * theta.cos() - odd * theta.sin()
    out[..., 1::2] = even * theta.sin() + odd * theta.cos()
    return out
