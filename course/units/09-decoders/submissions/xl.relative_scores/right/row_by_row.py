import math

import torch
import torch.nn.functional as F


def relative_scores(q, k, r, u, v):
    last = q.size(2) - 1
    rows = []
    for i in range(q.size(2)):
        one = q[:, :, i]
        content = ((one + u)[:, :, None] * k).sum(-1)
        place = ((one + v)[:, :, None] * r).sum(-1)
        rows.append(content + F.pad(place[..., last - i :], (0, last - i)))
    return torch.stack(rows, 2) / math.sqrt(q.size(-1))
