"""You ask words and distances with the same bias.

u goes with the words, v with the distances."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + u[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
