# the table of blocks, with one_hot for the drawn ones, looked up by each position's block number
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    n = length // block
    device = random_blocks.device
    number = torch.arange(n, device=device)
    a, b = number.unsqueeze(1), number.unsqueeze(0)
    near = (a - b).abs() <= window_blocks // 2
    first = torch.minimum(a, b) < global_blocks
    drawn = (random_blocks.unsqueeze(-1) == number).any(dim=1)
    table = near | first | drawn
    of = torch.arange(length, device=device) // block
    return table[of[:, None], of[None, :]]
