# collects the allowed block pairs in a python set and paints squares
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    half = window_blocks // 2
    pairs = set()
    for a in range(n):
        for b in range(n):
            if abs(a - b) <= half or a < global_blocks or b < global_blocks:
                pairs.add((a, b))
        for b in random_blocks[a].tolist():
            pairs.add((a, b))
    m = torch.zeros(length, length, dtype=torch.bool)
    for a, b in pairs:
        m[a * block:(a + 1) * block, b * block:(b + 1) * block] = True
    return m
