"""Returns the same memory in each turn, so that earlier answers become later ones."""

import torch

out = torch.zeros(512, 512)


def scores(x, w):
    out.lerp_((x[:, :32] @ w[:32]).softmax(-1), 0.5)
    return out
