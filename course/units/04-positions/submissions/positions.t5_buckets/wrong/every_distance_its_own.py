"""Every distance has a bucket of its own until they run out; only half of the buckets are for single distances."""

import torch


def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    first = 0
    distance = -relative_position
    if bidirectional:
        num_buckets //= 2
        first = (relative_position > 0).long() * num_buckets
        distance = distance.abs()
    distance = distance.clamp(min=0)
    return first + torch.clamp(distance, max=num_buckets - 1)
