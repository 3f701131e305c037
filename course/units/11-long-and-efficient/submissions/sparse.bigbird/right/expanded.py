import torch
import torch.nn.functional as F


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    half = window_blocks // 2
    near = torch.ones(n, n, dtype=torch.bool, device=random_blocks.device).tril(half).triu(-half)
    first = torch.arange(n, device=random_blocks.device) < global_blocks
    drawn = F.one_hot(random_blocks, n).sum(1) > 0
    mask = near | first | first[:, None] | drawn
    return mask[:, None, :, None].expand(n, block, n, block).reshape(length, length)
