import math

import torch

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    return ((q + u[:, None]) @ k.mT + relative_shift((q + v[:, None]) @ r.mT)) / math.sqrt(q.size(-1))


def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    def heads(h):
        return h.unflatten(-1, u.shape).transpose(-3, -2)

    everything = torch.cat([memory.detach(), x], 1)
    scores = relative_scores(heads(x @ w_q), heads(everything @ w_k), heads(position_encodings @ w_r), u, v)
    future = torch.ones(scores.shape[-2:], device=x.device).triu(memory.size(1) + 1).bool()
    weights = scores.masked_fill(future, float("-inf")).softmax(-1)
    output = (weights @ heads(everything @ w_v)).transpose(1, 2).flatten(2)
    first = max(everything.size(1) - memory_length, 0)
    return output, everything.detach()[:, first:]
