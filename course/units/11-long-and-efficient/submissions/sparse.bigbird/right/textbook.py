import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    a = torch.arange(n, device=random_blocks.device)
    mask = (a[:, None] - a[None, :]).abs() <= window_blocks // 2
    mask[:global_blocks, :] = True
    mask[:, :global_blocks] = True
    mask.scatter_(1, random_blocks, True)
    return torch.kron(mask.long(), mask.new_ones(block, block, dtype=torch.long)).bool()
