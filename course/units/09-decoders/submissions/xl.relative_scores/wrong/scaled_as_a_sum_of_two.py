"""You take the second term for more width and divide by the root of twice D.

The paper divides by the root of D, as if there were one term."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(2 * q.size(-1))
