import math

from tfkit.nn import relative_shift


def relative_scores(q, k, r, u, v):
    asks_for_words, asks_for_distances = q + u.unsqueeze(1), q + v.unsqueeze(1)
    content = asks_for_words @ k.mT
    distance = relative_shift(asks_for_distances @ r.mT)
    return (content + distance) / math.sqrt(q.shape[-1])
