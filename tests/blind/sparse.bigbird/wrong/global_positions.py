# makes the first global_blocks positions global, not the first global_blocks blocks
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    idx = torch.arange(n)
    table = (idx[:, None] - idx[None]).abs().le(window_blocks // 2)
    rows = idx.repeat_interleave(random_blocks.shape[1])
    table[rows, random_blocks.reshape(-1)] = True
    full = torch.kron(table.int(), torch.ones(block, block, dtype=torch.int)).bool()
    full[:global_blocks, :] = True
    full[:, :global_blocks] = True
    return full
