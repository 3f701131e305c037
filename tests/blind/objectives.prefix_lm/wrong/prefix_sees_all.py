# the prefix rows see all positions, also those behind the prefix
def prefix_lm_mask(prefix_lengths, length):
    i = torch.arange(length, device=prefix_lengths.device).view(1, 1, length, 1)
    j = torch.arange(length, device=prefix_lengths.device).view(1, 1, 1, length)
    n = prefix_lengths.view(-1, 1, 1, 1)
    return (j <= i) | (i < n)
