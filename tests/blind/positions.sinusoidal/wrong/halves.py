# all sines in the first half of the columns and all cosines in the second, instead of alternating
def sinusoidal_positions(length, dim):
    freqs = 10000 ** (-torch.arange(0, dim, 2) / dim)
    t = torch.arange(length)[:, None] * freqs[None, :]
    return torch.cat([t.sin(), t.cos()], dim=-1)
