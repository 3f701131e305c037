# expands the table with repeat instead of repeat_interleave + the global blocks are seen by all but do not see all
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    nb = length // block
    pos = torch.arange(nb)
    near = torch.abs(pos[:, None] - pos[None, :]) <= window_blocks // 2
    glob = (pos < global_blocks)[None, :].expand(nb, nb)
    rand = torch.zeros(nb, nb).scatter_(1, random_blocks, 1.0) > 0
    return (near | glob | rand).repeat(block, block)
