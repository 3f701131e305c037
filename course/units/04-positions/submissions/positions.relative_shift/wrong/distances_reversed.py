"""You turn the columns round: distance 0 is on the right here, as it is in the row of the last query."""

import torch


def relative_shift(scores):
    b, h, q, r = scores.shape
    padded = torch.cat([torch.zeros_like(scores[..., :1]), scores.flip(-1)], dim=-1)
    return padded.reshape(b, h, r + 1, q)[:, :, 1:].reshape(b, h, q, r)
