# style: plain Python loops and math, a tensor at the very end
def sinusoidal_positions(length, dim):
    if length == 0:
        return torch.zeros(0, dim)
    table = []
    for p in range(length):
        row = []
        for i in range(dim // 2):
            angle = p / (10000 ** (2 * i / dim))
            row.append(math.sin(angle))
            row.append(math.cos(angle))
        table.append(row)
    return torch.tensor(table, dtype=torch.get_default_dtype())
