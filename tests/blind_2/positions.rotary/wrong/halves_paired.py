# pairs column i with column i + d/2 (GPT-NeoX) instead of neighbours
def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    freqs = 1.0 / base ** (torch.arange(0, d, 2).float() / d)
    ang = positions[:, None].float() * freqs[None]
    cos = torch.cat([ang.cos(), ang.cos()], -1)
    sin = torch.cat([ang.sin(), ang.sin()], -1)

    def rotate_half(t):
        a, b = t.chunk(2, dim=-1)
        return torch.cat([-b, a], dim=-1)

    return x * cos + rotate_half(x) * sin
