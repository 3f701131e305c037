# fills a table row by row with slices, then rows and columns of the global positions
def local_global_mask(length, window, global_positions):
    table = torch.zeros((length, length), dtype=torch.bool)
    reach = window // 2
    for i in range(length):
        table[i, max(i - reach, 0): i + reach + 1] = True
    for g in global_positions:
        table[g] = True
        table[:, g] = True
    return table
