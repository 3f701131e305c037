# ignores positions and rotates by the row number 0..L-1
def apply_rotary(x, positions, base=10000.0):
    L, D = x.shape[-2:]
    i = torch.arange(D // 2)
    w = base ** (-2 * i / D)
    out = torch.zeros_like(x)
    for m in range(L):
        a = m * w
        even = x[..., m, 0::2]
        odd = x[..., m, 1::2]
        out[..., m, 0::2] = even * a.cos() - odd * a.sin()
        out[..., m, 1::2] = even * a.sin() + odd * a.cos()
    return out
