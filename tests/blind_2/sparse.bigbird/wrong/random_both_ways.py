# random blocks are made symmetric: b sees a as well
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    idx = torch.arange(n)
    near = (idx[:, None] - idx[None, :]).abs() <= window_blocks // 2
    glob = (idx[:, None] < global_blocks) | (idx[None, :] < global_blocks)
    rand = torch.zeros(n, n, dtype=torch.bool)
    rand.scatter_(1, random_blocks, True)
    rand = rand | rand.t()
    m = near | glob | rand
    return m.repeat_interleave(block, 0).repeat_interleave(block, 1)
