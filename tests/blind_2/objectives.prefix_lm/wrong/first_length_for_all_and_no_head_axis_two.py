# the length of the first text is used for all + the axis for the heads is missing, [B,L,L]
def prefix_lm_mask(prefix_lengths, length):
    mask = torch.tril(torch.ones(length, length, dtype=torch.bool))
    n = int(prefix_lengths[0])
    mask[:n, :n] = True
    return mask.unsqueeze(0).repeat(len(prefix_lengths), 1, 1)
