"""You show a position that passes one of the two tests; it must pass both."""

import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    real = (ids != pad_id)[:, None, None, :]
    return past | real
