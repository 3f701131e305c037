"""Your scores know words and no distances.

Without the second term the order of the words would be invisible."""

import math


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    return (content) / math.sqrt(q.size(-1))
