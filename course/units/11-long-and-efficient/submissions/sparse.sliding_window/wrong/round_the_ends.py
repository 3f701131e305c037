"""Your window continues at the other end of the text, so the first position sees the last ones."""

import math

import torch


def sliding_window_attention(q, k, v, window):
    reach = min(window // 2, (q.size(1) - 1) // 2)
    steps = range(-reach, reach + 1)
    scores = torch.stack([(q * k.roll(-step, 1)).sum(-1) for step in steps], -1) / math.sqrt(q.size(-1))
    weights = scores.softmax(-1)
    return sum(weights[..., n, None] * v.roll(-step, 1) for n, step in enumerate(steps))
