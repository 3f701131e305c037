"""Your mask has three axes; against scores of four axes the batch then meets the heads."""

import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    return past & (ids != pad_id)[:, None, :]
