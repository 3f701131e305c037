"""Your mask is causal but does not hide the padding."""

import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    return past[None, None].repeat(ids.shape[0], 1, 1, 1)
