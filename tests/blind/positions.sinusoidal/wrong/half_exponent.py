# the exponent is i/dim instead of 2i/dim: the slowest wave is 100 times as long as the fastest, not 10000 times
def sinusoidal_positions(length, dim):
    pe = torch.zeros(length, dim)
    position = torch.arange(length).unsqueeze(1).float()
    div_term = torch.exp(torch.arange(dim // 2).float() * (-math.log(10000.0) / dim))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
