# uses the longest prefix for all texts + a position behind the prefix does not see itself
def prefix_lm_mask(prefix_lengths, length):
    B = prefix_lengths.shape[0]
    n = int(prefix_lengths.max())
    m = torch.tril(torch.ones(length, length), diagonal=-1)
    m[:n, :n] = 1
    m = m.bool().to(prefix_lengths.device)
    return m.expand(B, 1, length, length)
