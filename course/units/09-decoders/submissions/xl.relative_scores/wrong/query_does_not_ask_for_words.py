"""Your term for the content does not know the query."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (0 * q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
