# all sines in the first half of the columns and all cosines in the second, instead of alternating
def sinusoidal_positions(length, dim):
    pos = torch.arange(length)[:, None]
    freq = 10000.0 ** (-torch.arange(0, dim, 2) / dim)
    ang = pos * freq
    return torch.cat([ang.sin(), ang.cos()], dim=1)
