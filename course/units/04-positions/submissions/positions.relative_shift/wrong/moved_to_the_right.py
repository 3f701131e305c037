"""Your rows move to the right; they move to the left, the first row the most."""

import torch


def relative_shift(scores):
    q = scores.size(-2)
    rows = [torch.roll(scores[..., i, :], q - 1 - i, dims=-1) for i in range(q)]
    return torch.stack(rows, dim=-2)
