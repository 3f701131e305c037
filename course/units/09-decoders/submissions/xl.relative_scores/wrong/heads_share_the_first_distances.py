"""All your heads use the distances of the first one.

`r` has an axis for the heads: each sees distances in its own way."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v[:, None]) @ r[:1].transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
