# the window only reaches back, as in a language model
def local_global_mask(length, window, global_positions):
    m = []
    for i in range(length):
        row = []
        for j in range(length):
            row.append(0 <= i - j <= window // 2 or i in global_positions or j in global_positions)
        m.append(row)
    return torch.tensor(m, dtype=torch.bool)
