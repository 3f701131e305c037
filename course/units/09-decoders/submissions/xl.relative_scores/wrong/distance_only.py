"""Your scores know distances and no words."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    distance = relative_shift((q + v[:, None]) @ r.transpose(-2, -1))
    return (distance) / math.sqrt(q.size(-1))
