"""Your shift is computed without gradients, so what the scores of distances are made of never learns."""

import torch


def relative_shift(scores):
    b, h, q, r = scores.shape
    padded = torch.cat([torch.zeros_like(scores[..., :1]), scores.detach()], dim=-1)
    return padded.reshape(b, h, r + 1, q)[:, :, 1:].reshape(b, h, q, r)
