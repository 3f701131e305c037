# takes relative_position as query minus key (positive = behind)
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    n = num_buckets
    offset = torch.zeros_like(relative_position)
    if bidirectional:
        n = n // 2
        offset = (relative_position < 0).long() * n   # ahead
        d = relative_position.abs()
    else:
        d = relative_position.clamp(min=0)
    e = n // 2
    small = d < e
    large = e + (torch.log(d.clamp(min=1).float() / e) / math.log(max_distance / e) * (n - e)).long()
    large = large.clamp(max=n - 1)
    return offset + torch.where(small, d, large)
