# pairs neighbouring columns 2i and 2i+1 as in unit 04
def apply_rotary_halves(x, positions, base=10000.0):
    D = x.shape[-1]
    i = torch.arange(0, D, 2, dtype=torch.float32, device=x.device)
    ang = positions[:, None].float() * base ** (-i / D)
    cos, sin = ang.cos(), ang.sin()
    xf = x.float()
    even, odd = xf[..., 0::2], xf[..., 1::2]
    out = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1)
    return out.flatten(-2).to(x.dtype)
