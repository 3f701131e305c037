# each column has its own frequency: the cosine of a pair uses the exponent (2i+1)/d instead of 2i/d
def sinusoidal_positions(length, dim):
    def angle(p, col):
        return p / 10000 ** (col / dim)

    out = torch.empty(length, dim)
    for p in range(length):
        for c in range(dim):
            out[p, c] = math.sin(angle(p, c)) if c % 2 == 0 else math.cos(angle(p, c))
    return out
