"""Your positions may not see themselves, so the first one sees nothing at all.

The decoder's input is already shifted: position i holds the word before the one to predict.
"""

import torch


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal=-1)
