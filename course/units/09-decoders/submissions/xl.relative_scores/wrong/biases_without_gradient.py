"""Your biases are constants; they are parameters of the model."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u.detach()[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v.detach()[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
