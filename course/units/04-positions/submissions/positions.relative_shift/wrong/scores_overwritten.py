"""You move the rows within the caller's own tensor; whoever gave you the scores still needs them."""

import torch


def relative_shift(scores):
    q = scores.size(-2)
    with torch.no_grad():
        for i in range(q):
            scores[..., i, :] = torch.roll(scores[..., i, :], i + 1 - q, dims=-1)
    return scores
