import math

import torch


def sliding_window_attention(q, k, v, window):
    rows = []
    for i in range(q.size(1)):
        near = slice(max(0, i - window // 2), i + window // 2 + 1)
        scores = q[:, i : i + 1] @ k[:, near].transpose(1, 2) / math.sqrt(q.size(2))
        rows.append(scores.softmax(-1) @ v[:, near])
    return torch.cat(rows, dim=1)
