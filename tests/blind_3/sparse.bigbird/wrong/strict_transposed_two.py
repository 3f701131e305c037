# near is < instead of <= window_blocks // 2 + random blocks are marked for the drawn block as query, transposed
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    a = torch.arange(n)
    mask = (a.view(-1, 1) - a.view(1, -1)).abs() < window_blocks // 2
    for i in range(n):
        mask[i, i] = True
        for j in random_blocks[i].tolist():
            mask[j, i] = True
    mask[:global_blocks, :] = True
    mask[:, :global_blocks] = True
    mask = mask[:, None, :, None].expand(n, block, n, block)
    return mask.reshape(length, length)
