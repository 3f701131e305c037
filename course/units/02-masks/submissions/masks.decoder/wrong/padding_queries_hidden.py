"""You hide the rows of the padding too; their outputs are ignored anyway, and an empty row invites NaN."""

import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    real = (ids != pad_id)[:, None, None, :]
    return past & real & real.transpose(-1, -2)
