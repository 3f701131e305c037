"""You count the real words and show that many from the left; padding may stand in front or in the middle."""

import torch


def padding_mask(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1, keepdim=True)
    real = torch.arange(ids.shape[1], device=ids.device) < lengths
    return real[:, None, None, :]
