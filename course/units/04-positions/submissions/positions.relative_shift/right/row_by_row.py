import torch


def relative_shift(scores):
    q = scores.size(-2)
    rows = [torch.roll(scores[..., i, :], i + 1 - q, dims=-1) for i in range(q)]
    return torch.stack(rows, dim=-2)
