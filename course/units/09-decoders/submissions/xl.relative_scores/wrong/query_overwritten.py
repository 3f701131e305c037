"""You write into `q`; the caller still needs it.

`+=` changes the tensor that came in."""

import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    q += u[:, None]
    content = q @ k.transpose(-2, -1)
    distance = relative_shift((q - u[:, None] + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / math.sqrt(q.size(-1))
