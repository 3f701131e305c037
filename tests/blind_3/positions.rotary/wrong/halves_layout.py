# pairs column i with column i + d/2 (GPT-NeoX) instead of neighbours
def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    inv_freq = base ** (-torch.arange(0, d, 2).float() / d)
    freqs = torch.outer(positions.float(), inv_freq)
    emb = torch.cat([freqs, freqs], dim=-1)

    def rotate_half(t):
        t1, t2 = t.chunk(2, dim=-1)
        return torch.cat([-t2, t1], dim=-1)

    return x * emb.cos() + rotate_half(x) * emb.sin()
