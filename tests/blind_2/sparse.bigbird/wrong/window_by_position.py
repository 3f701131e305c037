# the window is measured in positions instead of blocks, so the band has no block structure
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    pos = torch.arange(length)
    blk = pos // block
    reach = (window_blocks // 2) * block
    m = (pos.unsqueeze(1) - pos.unsqueeze(0)).abs() <= reach
    m |= (blk < global_blocks).unsqueeze(1)
    m |= (blk < global_blocks).unsqueeze(0)
    drawn = (random_blocks[blk].unsqueeze(-1) == blk).any(1)
    return m | drawn
