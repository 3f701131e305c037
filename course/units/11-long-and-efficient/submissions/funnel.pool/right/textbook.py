import torch
import torch.nn.functional as F


def pool_sequence(x, mask):
    B, L, E = x.shape
    if L % 2 == 1:
        x = torch.cat([x, x.new_zeros(B, 1, E)], dim=1)
        mask = torch.cat([mask, mask.new_zeros(B, 1)], dim=1)
    weights = mask.unsqueeze(-1).to(x.dtype)
    total = (x * weights).view(B, -1, 2, E).sum(dim=2)
    count = weights.view(B, -1, 2, 1).sum(dim=2)
    return total / count.clamp(min=1), mask.view(B, -1, 2).any(dim=2)
