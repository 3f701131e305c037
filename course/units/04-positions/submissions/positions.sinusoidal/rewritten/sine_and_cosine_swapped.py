import torch


def sinusoidal_positions(length, dim):
    table = torch.zeros(length, dim, dtype=torch.float64)
    for place in range(length):
        for pair in range(dim // 2):
            angle = torch.tensor(place / 10000 ** (2 * pair / dim), dtype=torch.float64)
            table[place, 2 * pair] = angle.cos()
            table[place, 2 * pair + 1] = angle.sin()
    return table.to(torch.get_default_dtype())
