# the window is not halved: window_blocks to each side + the block table is tiled instead of enlarged
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    table = torch.zeros(n, n, dtype=torch.bool)
    for a in range(n):
        lo = max(0, a - window_blocks)
        hi = min(n, a + window_blocks + 1)
        table[a, lo:hi] = True
        table[a, random_blocks[a]] = True
    table[:global_blocks] = True
    table[:, :global_blocks] = True
    return table.repeat(block, block)
