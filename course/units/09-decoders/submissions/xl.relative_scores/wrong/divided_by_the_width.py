"""You divide by the width, not by its root.

The size of a sum of D random products grows like the root of D."""

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = relative_shift((q + v[:, None]) @ r.transpose(-2, -1))
    return (content + distance) / q.size(-1)
