# the prefix is one position too long (<= n)
def prefix_lm_mask(prefix_lengths, length):
    mask = torch.ones(length, length, dtype=torch.bool).tril().repeat(len(prefix_lengths), 1, 1, 1)
    for b, n in enumerate(prefix_lengths.tolist()):
        mask[b, 0, :n + 1, :n + 1] = True
    return mask.to(prefix_lengths.device)
