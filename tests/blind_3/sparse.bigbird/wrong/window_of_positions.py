# the window is a band of positions, window_blocks // 2 * block to each side, instead of whole blocks
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    pos = torch.arange(length, device=random_blocks.device)
    near = (pos[:, None] - pos).abs() <= (window_blocks // 2) * block
    blk = pos // block
    is_global = blk < global_blocks
    rnd = (random_blocks[blk][:, :, None] == blk[None, None, :]).any(1)
    return near | is_global[:, None] | is_global[None, :] | rnd
