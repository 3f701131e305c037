"""You read the distances from near to far; `r` holds them from far to near.

The last row of `r` is for distance 0."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v[:, None]) @ r.flip(1).transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
