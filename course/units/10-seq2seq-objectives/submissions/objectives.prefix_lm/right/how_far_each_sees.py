import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    end = torch.maximum(prefix_lengths[:, None], place + 1)  # [B,L]: the first key that a query does not see
    return (place < end[..., None]).unsqueeze(1)
