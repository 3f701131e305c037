import math

import torch


def bucket(relative, bidirectional, num_buckets, max_distance):
    if bidirectional:
        half = num_buckets // 2
        side = half if relative > 0 else 0
        return side + bucket(-abs(relative), False, half, max_distance)
    distance, exact = max(-relative, 0), num_buckets // 2
    if distance < exact:
        return distance
    share = math.log(distance / exact) / math.log(max_distance / exact)
    return min(exact + int(share * (num_buckets - exact)), num_buckets - 1)


def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    found = [bucket(one, bidirectional, num_buckets, max_distance) for one in relative_position.flatten().tolist()]
    return torch.tensor(found, device=relative_position.device).reshape(relative_position.shape)
