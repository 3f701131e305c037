"""You add row h of a bias to position h, but row h belongs to head h.

`u` is `[H,D]`. Which axis of `q` does its first axis line up with in your addition?
"""

import math

from tfkit.nn import relative_shift


def rows(bias, q):
    return bias.repeat(q.size(2), 1)[: q.size(2)]


def relative_scores(q, k, r, u, v):
    content = (q + rows(u, q)) @ k.transpose(-2, -1)
    distance = relative_shift((q + rows(v, q)) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
