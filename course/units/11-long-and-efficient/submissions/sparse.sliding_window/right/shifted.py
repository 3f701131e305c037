import math

import torch


def shifted(x, step):
    """x[:, i + step], zeros where there is none."""
    moved = torch.zeros_like(x)
    length = x.size(1)
    if abs(step) < length:
        moved[:, max(0, -step) : length - max(0, step)] = x[:, max(0, step) : length - max(0, -step)]
    return moved


def sliding_window_attention(q, k, v, window):
    reach = min(window // 2, q.size(1) - 1)
    steps = range(-reach, reach + 1)
    ones = torch.ones_like(q[..., :1])
    scores = [(q * shifted(k, step)).sum(-1, keepdim=True) / math.sqrt(q.size(-1)) for step in steps]
    scores = [score.masked_fill(shifted(ones, step) == 0, -torch.inf) for score, step in zip(scores, steps)]
    weights = torch.cat(scores, -1).softmax(-1)
    return sum(weights[..., n : n + 1] * shifted(v, step) for n, step in enumerate(steps))
