import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    mask = torch.zeros(length, length, dtype=torch.bool, device=random_blocks.device)
    n = length // block
    for a in range(n):
        seen = set(random_blocks[a].tolist()) | set(range(min(global_blocks, n)))
        seen |= {b for b in range(n) if abs(a - b) <= window_blocks // 2 or a < global_blocks}
        for b in seen:
            mask[a * block : (a + 1) * block, b * block : (b + 1) * block] = True
    return mask
