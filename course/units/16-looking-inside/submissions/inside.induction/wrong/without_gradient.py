"""You turn the scores into Python numbers on the way, so they have no gradient."""

import torch


def induction_scores(weights, period):
    if weights.size(-1) <= period:
        return weights.new_zeros(weights.size(1))
    ahead = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean((0, 2))
    return torch.tensor(ahead.tolist(), dtype=weights.dtype, device=weights.device)
