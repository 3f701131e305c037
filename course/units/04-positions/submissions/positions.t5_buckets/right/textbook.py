import math

import torch


def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    first = 0
    distance = -relative_position
    if bidirectional:
        num_buckets //= 2
        first = (relative_position > 0).long() * num_buckets
        distance = distance.abs()
    distance = distance.clamp(min=0)
    exact = num_buckets // 2
    far = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact) * (num_buckets - exact)
    far = (exact + far.long()).clamp(max=num_buckets - 1)
    return first + torch.where(distance < exact, distance, far)
