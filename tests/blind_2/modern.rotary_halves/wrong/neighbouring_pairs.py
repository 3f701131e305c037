# rotates neighbouring columns (2i, 2i+1) as in unit 04, not i and i+D/2
def apply_rotary_halves(x, positions, base=10000.0):
    D = x.shape[-1]
    inv = base ** (-torch.arange(0, D, 2, device=x.device).float() / D)
    ang = positions.float()[:, None] * inv[None, :]
    cos, sin = ang.cos(), ang.sin()
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    out = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1)
    return out.flatten(-2).to(x.dtype)
