"""You leave out v, what every query asks of the distances.

Without it a query that does not care could not prefer near words either."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift(q @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
