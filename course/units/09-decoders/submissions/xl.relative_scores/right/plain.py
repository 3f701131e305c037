import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
