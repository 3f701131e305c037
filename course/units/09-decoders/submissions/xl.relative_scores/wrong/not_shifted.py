"""You add scores by distance to scores by place without moving them.

Column j of the one belongs to the distance K-1-j, whoever asks; column j of the other to the word at j. The shift of unit 04 makes one of the other."""

import math


def relative_scores(q, k, r, u, v):
    content = (q + u[:, None]) @ k.transpose(-2, -1)
    distance = (q + v[:, None]) @ r.transpose(-2, -1)
    return (content + distance) / math.sqrt(q.size(-1))
