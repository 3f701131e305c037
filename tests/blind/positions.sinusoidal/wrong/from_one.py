# counts positions from 1, so that row 0 is not 0, 1, 0, 1
def sinusoidal_positions(length, dim):
    rows = []
    for p in range(1, length + 1):
        row = []
        for i in range(dim // 2):
            w = p / 10000 ** (2 * i / dim)
            row += [math.sin(w), math.cos(w)]
        rows.append(row)
    return torch.tensor(rows)
