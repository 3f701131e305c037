"""Your logarithm begins at distance 1; the near half of the buckets holds one distance each."""

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
    far = torch.log(distance.clamp(min=1).float()) / math.log(max_distance) * num_buckets
    return first + far.long().clamp(max=num_buckets - 1)
