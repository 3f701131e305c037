import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    at = torch.arange(length, device=random_blocks.device) // block
    rows, columns = at[:, None], at[None, :]
    mask = (rows - columns).abs() <= window_blocks // 2
    mask = mask | (rows < global_blocks) | (columns < global_blocks)
    for draw in random_blocks.T:
        mask = mask | (draw[at][:, None] == columns)
    return mask
