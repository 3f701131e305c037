# uses base ** (-i/d) instead of base ** (-2i/d)
def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    out = torch.empty_like(x)
    for i in range(d // 2):
        w = base ** (-i / d)
        theta = positions.to(torch.float64) * w
        c = torch.cos(theta).to(x.dtype)
        s = torch.sin(theta).to(x.dtype)
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        out[..., 2 * i] = a * c - b * s
        out[..., 2 * i + 1] = a * s + b * c
    return out
