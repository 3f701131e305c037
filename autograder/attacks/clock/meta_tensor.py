"""Returns a tensor that has a shape and no values."""

import torch


def scores(x, w):
    return torch.empty(512, 512, device="meta")
