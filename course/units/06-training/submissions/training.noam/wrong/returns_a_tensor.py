"""You return a tensor; an optimizer's rate is a plain number.

A tensor with one entry can be turned into a Python number."""

import torch


def noam_rate(step, d_model, warmup):
    return torch.tensor(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
