"""Every position sees one word of the future, which is exactly the word it has to predict."""

import torch


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal=1)
