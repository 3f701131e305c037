"""You built the additive kind of mask (zero and minus infinity); here a mask is boolean."""

import torch


def padding_mask(ids, pad_id):
    return torch.zeros(ids.shape, device=ids.device).masked_fill(ids == pad_id, float("-inf"))[:, None, None, :]
