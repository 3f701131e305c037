# makes the drawn blocks symmetric
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    mask = torch.zeros(n, n, dtype=torch.bool)
    half = window_blocks // 2
    for a in range(n):
        for b in range(n):
            if abs(a - b) <= half or a < global_blocks or b < global_blocks:
                mask[a, b] = True
        for b in random_blocks[a].tolist():
            mask[a, b] = True
            mask[b, a] = True
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1)
