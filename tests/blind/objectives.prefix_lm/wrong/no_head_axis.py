# returns [B,L,L]: the axis for the heads is missing
def prefix_lm_mask(prefix_lengths, length):
    pos = torch.arange(length, device=prefix_lengths.device)
    causal = pos[None, :] <= pos[:, None]
    in_prefix = pos[None, :] < prefix_lengths[:, None]
    both = in_prefix[:, :, None] & in_prefix[:, None, :]
    return causal[None] | both
