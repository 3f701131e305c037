"""You leave out u and v.

They are what every query asks, whatever word it stands on: for certain words, and for certain distances."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = q @ k.transpose(-2, -1)
    distance = relative_shift(q @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
