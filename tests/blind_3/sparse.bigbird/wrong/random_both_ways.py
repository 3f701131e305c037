# the random blocks are made symmetric: if b was drawn for a, b sees a as well
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    idx = torch.arange(n, device=random_blocks.device)
    m = (idx[:, None] - idx[None, :]).abs() <= window_blocks // 2
    m[:, :global_blocks] = True
    m.scatter_(1, random_blocks, True)
    m = m | m.T
    return m.repeat_interleave(block, 0).repeat_interleave(block, 1)
