# the rows of the prefix see all columns, the answer too
def prefix_lm_mask(prefix_lengths, length):
    i = torch.arange(length).view(1, 1, length, 1)
    j = torch.arange(length).view(1, 1, 1, length)
    n = prefix_lengths.view(-1, 1, 1, 1)
    return (j <= i) | (i < n)
