# complex numbers: a clock hand per pair (torch.polar), real and imaginary part exchanged and flattened
def sinusoidal_positions(length, dim):
    pair = torch.arange(dim // 2, dtype=torch.float64)
    freq = torch.exp(-math.log(10000.0) * 2 * pair / dim)
    angle = torch.arange(length, dtype=torch.float64).outer(freq)
    hands = torch.polar(torch.ones_like(angle), angle)          # cos + i sin
    cos_sin = torch.view_as_real(hands)                         # [L, d/2, 2]
    return cos_sin.flip(-1).reshape(length, dim).to(torch.get_default_dtype())
