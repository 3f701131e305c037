# the window reaches window_blocks to each side instead of half of it
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    ones = torch.ones(n, n, dtype=torch.bool, device=random_blocks.device)
    table = ones.tril(window_blocks) & ones.triu(-window_blocks)
    table[:global_blocks] = True
    table[:, :global_blocks] = True
    table = table.scatter(1, random_blocks, True)
    return table[:, None, :, None].expand(n, block, n, block).reshape(length, length)
