"""You treat every call as bidirectional, but a decoder uses all of its buckets for the past."""

import math

import torch


def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    num_buckets //= 2
    first = (relative_position > 0).long() * num_buckets
    distance = relative_position.abs()
    exact = num_buckets // 2
    far = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact) * (num_buckets - exact)
    far = (exact + far.long()).clamp(max=num_buckets - 1)
    return first + torch.where(distance < exact, distance, far)
