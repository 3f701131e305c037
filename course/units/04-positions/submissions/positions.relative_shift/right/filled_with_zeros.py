import torch


def relative_shift(scores):
    q, r = scores.shape[-2:]
    out = torch.zeros_like(scores)
    for i in range(q):
        keep = r - (q - 1 - i)
        out[..., i, :keep] = scores[..., i, r - keep :]
    return out
