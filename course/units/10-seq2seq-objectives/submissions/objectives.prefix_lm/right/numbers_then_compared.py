import torch


def prefix_lm_mask(prefix_lengths, length):
    batch = prefix_lengths.numel()
    seen = torch.tril(torch.ones(batch, length, length, device=prefix_lengths.device))
    block = (torch.arange(length, device=prefix_lengths.device)[None] < prefix_lengths[:, None]).float()
    return (seen + block[:, :, None] * block[:, None, :] > 0)[:, None]
