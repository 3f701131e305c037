# positions counted from 1 + sine and cosine exchanged
def sinusoidal_positions(length, dim):
    p = torch.arange(1, length + 1, dtype=torch.get_default_dtype())
    w = 1 / 10000 ** (torch.arange(0, dim, 2, dtype=torch.get_default_dtype()) / dim)
    a = torch.outer(p, w)
    return torch.stack((a.cos(), a.sin()), -1).reshape(length, dim)
