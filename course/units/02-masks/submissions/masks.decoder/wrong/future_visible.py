"""Your mask hides the padding but shows the future, where the answer stands."""

import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    real = (ids != pad_id)[:, None, None, :]
    return real.repeat(1, 1, length, 1)
