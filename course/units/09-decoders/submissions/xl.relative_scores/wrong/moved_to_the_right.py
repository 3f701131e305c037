"""You move the rows to the right; they move to the left.

The first query has the shortest past. Which columns of the distances are too far for it?"""

import math

import torch


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    table = (q + v[:, None]) @ r.transpose(-2, -1)
    back = torch.arange(q.size(2) - 1, -1, -1, device=q.device)[:, None]
    column = torch.arange(k.size(2), device=q.device) - back
    distance = table.gather(-1, column.clamp(min=0).expand_as(table))
    return (content + distance) / math.sqrt(q.size(-1))
