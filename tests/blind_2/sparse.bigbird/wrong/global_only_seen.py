# the global blocks are seen by all, but do not see all themselves
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    nb = length // block
    grid = [[False] * nb for _ in range(nb)]
    for a in range(nb):
        for b in range(nb):
            if abs(a - b) <= window_blocks // 2:
                grid[a][b] = True
            if b < global_blocks:
                grid[a][b] = True
        for r in random_blocks[a]:
            grid[a][int(r)] = True
    grid = torch.tensor(grid)
    return torch.kron(grid.int(), torch.ones(block, block, dtype=torch.int)).bool()
