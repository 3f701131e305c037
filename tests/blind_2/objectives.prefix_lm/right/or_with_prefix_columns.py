# uses that rows behind the prefix see its columns anyway: tril OR (column < n)
def prefix_lm_mask(prefix_lengths, length):
    col = torch.arange(length, device=prefix_lengths.device)
    causal = torch.tril(torch.ones(length, length, dtype=torch.bool, device=prefix_lengths.device))
    in_prefix = torch.lt(col[None, :], prefix_lengths[:, None])      # [B,L]
    return (causal[None] | in_prefix[:, None, :]).unsqueeze(1)
