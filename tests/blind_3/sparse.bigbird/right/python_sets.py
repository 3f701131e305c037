# style: plain python sets of blocks, then one slice of the table per pair of blocks
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    drawn = random_blocks.tolist()
    out = torch.zeros(length, length, dtype=torch.bool, device=random_blocks.device)
    half = window_blocks // 2
    for a in range(n):
        if a < global_blocks:
            seen = set(range(n))
        else:
            seen = set(range(max(0, a - half), min(n, a + half + 1)))
            seen |= set(range(min(global_blocks, n)))
            seen |= set(drawn[a])
        for b in seen:
            out[a * block:(a + 1) * block, b * block:(b + 1) * block] = True
    return out
