"""You add both biases to the query before it is used at all.

u meets only the words, v only the distances."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None] + v[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + u[:, None] + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
