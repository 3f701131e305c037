"""Your new mask is true only where both of a pair are real. Then the last word of many texts disappears."""

import torch.nn.functional as F


def pool_sequence(x, mask):
    odd = x.size(1) % 2
    x, mask = F.pad(x, (0, 0, 0, odd)), F.pad(mask, (0, odd))
    pairs = x.masked_fill(~mask[..., None], 0.0).unflatten(1, (-1, 2))
    real = mask.unflatten(1, (-1, 2))
    return pairs.sum(2) / real.sum(2, keepdim=True).clamp(min=1), real.all(2)
