# block-diagonal: what follows the prefix is causal among itself only and does not see the prefix
def prefix_lm_mask(prefix_lengths, length):
    B = prefix_lengths.shape[0]
    out = torch.zeros(B, 1, length, length, dtype=torch.bool)
    for b in range(B):
        n = int(prefix_lengths[b])
        out[b, 0, :n, :n] = True
        out[b, 0, n:, n:] = torch.ones(length - n, length - n, dtype=torch.bool).tril()
    return out
