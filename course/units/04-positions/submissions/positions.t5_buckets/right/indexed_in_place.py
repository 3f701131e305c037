import math

import torch


def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    if bidirectional:
        buckets, distance = num_buckets // 2, relative_position.abs()
    else:
        buckets, distance = num_buckets, torch.relu(-relative_position)
    exact, found = buckets // 2, distance.clone()
    far = distance >= exact
    logarithm = torch.log(distance[far].float() / exact) / math.log(max_distance / exact)
    found[far] = exact + torch.floor(logarithm * (buckets - exact)).long()
    found = found.clamp(max=buckets - 1)
    if bidirectional:
        found[relative_position > 0] += buckets
    return found
