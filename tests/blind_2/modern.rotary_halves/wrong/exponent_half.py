# exponent -i/D instead of -2i/D
def apply_rotary_halves(x, positions, base=10000.0):
    d = x.shape[-1]
    h = d // 2
    y = torch.empty_like(x)
    for i in range(h):
        th = positions.double() * base ** (-i / d)
        a, b = x[..., i].double(), x[..., i + h].double()
        y[..., i] = (a * th.cos() - b * th.sin()).to(x.dtype)
        y[..., i + h] = (b * th.cos() + a * th.sin()).to(x.dtype)
    return y
