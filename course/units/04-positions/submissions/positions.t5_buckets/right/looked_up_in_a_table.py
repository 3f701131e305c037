import math

import torch


def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    buckets = num_buckets // 2 if bidirectional else num_buckets
    exact = buckets // 2
    near, far = torch.arange(max_distance + 1, device=relative_position.device).tensor_split([exact])
    share = torch.log(far / exact) / math.log(max_distance / exact)
    table = torch.cat([near, (exact + (share * (buckets - exact)).long()).clamp(max=buckets - 1)])
    back = (-relative_position).clamp(0, len(table) - 1)
    if not bidirectional:
        return table[back]
    ahead = relative_position.clamp(0, len(table) - 1)
    return torch.where(relative_position > 0, buckets + table[ahead], table[back])
