# counts distance 0 among the keys ahead (>= instead of >)
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    offset = 0
    if bidirectional:
        num_buckets //= 2
        offset = (relative_position >= 0).long() * num_buckets
        d = relative_position.abs()
    else:
        d = -torch.minimum(relative_position, torch.zeros_like(relative_position))
    e = num_buckets // 2
    large = e + (torch.log(d.clamp(min=1).float() / e) / math.log(max_distance / e) * (num_buckets - e)).long()
    large = torch.clamp(large, max=num_buckets - 1)
    return offset + torch.where(d < e, d, large)
