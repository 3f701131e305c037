"""Your window ends at the position itself: what stands to the right is near, too."""

import math

import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    length, reach = q.size(1), window // 2
    spans = [F.pad(x, (0, 0, reach, reach)).unfold(1, 2 * reach + 1, 1) for x in (k, v)]  # [B,L,D,W]
    at = torch.arange(length, device=q.device)[:, None] + torch.arange(-reach, reach + 1, device=q.device)
    scores = (q[..., None, :] @ spans[0]).squeeze(-2) / math.sqrt(q.size(-1))
    weights = scores.masked_fill((at < 0) | (at > torch.arange(length, device=q.device)[:, None]), -torch.inf).softmax(
        -1
    )
    return (spans[1] @ weights[..., None]).squeeze(-1)
