"""You return float32 whatever the dtype of the inputs."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance).float() / math.sqrt(q.size(-1))
