import torch.nn.functional as F


def pool_sequence(x, mask):
    odd = x.size(1) % 2
    x, mask = F.pad(x, (0, 0, 0, odd)), F.pad(mask, (0, odd))
    pairs = x.masked_fill(~mask[..., None], 0.0).unflatten(1, (-1, 2))
    real = mask.unflatten(1, (-1, 2))
    return pairs.sum(2) / real.sum(2, keepdim=True).clamp(min=1), real.any(2)
