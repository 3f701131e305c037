# one number per row: how many positions it sees, max(i + 1, n)
def prefix_lm_mask(prefix_lengths, length):
    position = torch.arange(length, device=prefix_lengths.device)
    visible = torch.maximum(position + 1, prefix_lengths.unsqueeze(-1))      # [B,L]
    return (position < visible.unsqueeze(-1)).unsqueeze(1)
