import torch


def relative_shift(scores):
    b, h, q, r = scores.shape
    padded = torch.cat([torch.zeros_like(scores[..., :1]), scores], dim=-1)
    return padded.view(b, h, r + 1, q)[:, :, 1:].reshape_as(scores)
