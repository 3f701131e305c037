"""You treat the queries as the first Q positions, but they are the last ones.

The memory comes before them, and only the last query has all the keys before it.
"""

import math

import torch


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    keys, queries = k.size(2), q.size(2)
    back = torch.arange(queries, device=q.device)[:, None] - torch.arange(keys, device=q.device)
    column = (keys - 1 - back).clamp(0, keys - 1)
    table = (q + v[:, None]) @ r.transpose(-2, -1)
    distance = table.gather(-1, column.expand_as(table))
    return (content + distance) / math.sqrt(q.size(-1))
