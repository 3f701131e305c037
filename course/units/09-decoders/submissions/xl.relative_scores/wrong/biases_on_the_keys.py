"""You add the biases to what is asked; they belong to what asks.

$q + u$ stands in the place of a query."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = q @ (k + u[:, None]).transpose(-2, -1)
    distance = relative_shift(q @ (r + v[:, None]).transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
