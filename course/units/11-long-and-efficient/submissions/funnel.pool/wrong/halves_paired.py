"""You pair position i with the one half a text away. A pair are neighbours, 2i and 2i + 1."""

import torch.nn.functional as F


def pool_sequence(x, mask):
    odd = x.size(1) % 2
    x, mask = F.pad(x, (0, 0, 0, odd)), F.pad(mask, (0, odd))
    pairs = x.masked_fill(~mask[..., None], 0.0).unflatten(1, (2, -1))
    real = mask.unflatten(1, (2, -1))
    return pairs.sum(1) / real.sum(1).clamp(min=1)[..., None], real.any(1)
