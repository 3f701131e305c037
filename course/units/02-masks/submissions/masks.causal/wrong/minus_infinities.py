"""You built the additive kind of mask (zero and minus infinity); here a mask is boolean."""

import torch


def causal_mask(length):
    return torch.full((length, length), float("-inf")).triu(diagonal=1)
