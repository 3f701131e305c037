# < instead of <= at the edge of the window + global only where both row and column are global
def local_global_mask(length, window, global_positions):
    glob = set(global_positions)
    rows = []
    for i in range(length):
        rows.append([abs(i - j) < window // 2 or (i in glob and j in glob) for j in range(length)])
    return torch.tensor(rows, dtype=torch.bool)
