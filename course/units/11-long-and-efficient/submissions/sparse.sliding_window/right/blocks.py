import math

import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    """Blocks as long as the window reaches, each with the one before and the one after it."""
    length, reach = q.size(1), window // 2
    block = max(1, min(reach, length))
    many = math.ceil(length / block)
    fill = many * block - length
    queries = F.pad(q, (0, 0, 0, fill)).unflatten(1, (many, block))
    keys, values = (F.pad(x, (0, 0, block, fill + block)).unfold(1, 3 * block, block) for x in (k, v))
    at = torch.arange(many * block, device=q.device).view(many, block, 1)
    near = torch.arange(-block, 2 * block, device=q.device) + block * torch.arange(many, device=q.device)[:, None, None]
    seen = ((at - near).abs() <= reach) & (near >= 0) & (near < length) | (at == near)
    scores = queries @ keys / math.sqrt(q.size(-1))
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return (weights @ values.transpose(-2, -1)).flatten(1, 2)[:, :length]
