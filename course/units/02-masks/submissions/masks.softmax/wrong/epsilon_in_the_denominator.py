"""You add a small number to the sum so as not to divide by zero; every row then sums to a little less than one."""

import torch


def masked_softmax(scores, mask):
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    powers = torch.exp(scores - scores.detach().amax(dim=-1, keepdim=True)) * mask
    weights = powers / (powers.sum(dim=-1, keepdim=True) + 1e-4)
    return weights
