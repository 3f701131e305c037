# pairs neighbouring columns, as in unit 04
def apply_rotary_halves(x, positions, base=10000.0):
    D = x.shape[-1]
    inv = base ** (-torch.arange(0, D, 2, device=x.device).float() / D)
    theta = positions.float()[:, None] * inv[None, :]
    c, s = torch.cos(theta), torch.sin(theta)
    xf = x if x.dtype == torch.float64 else x.float()
    even, odd = xf[..., 0::2], xf[..., 1::2]
    out = torch.stack([even * c - odd * s, odd * c + even * s], dim=-1)
    return out.flatten(-2).to(x.dtype)
