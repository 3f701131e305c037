import torch


def head_contributions(weights, v, w_o):
    mixed = weights @ v  # [B,H,Q,D]
    heads = mixed.size(1)
    alone = mixed.unsqueeze(1) * torch.eye(heads, dtype=v.dtype, device=v.device).view(1, heads, heads, 1, 1)
    return alone.transpose(2, 3).flatten(3) @ w_o.T
