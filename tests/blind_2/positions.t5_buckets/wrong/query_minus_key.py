# the sign is read as query minus key: past and future are exchanged
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    n = num_buckets
    result = torch.zeros_like(relative_position)
    if bidirectional:
        n = n // 2
        result = result + (relative_position < 0).long() * n
        dist = relative_position.abs()
    else:
        dist = relative_position.clamp(min=0)
    e = n // 2
    large = e + (torch.log(dist.float().clamp(min=1) / e) / math.log(max_distance / e) * (n - e)).long()
    large = large.clamp(max=n - 1)
    return result + torch.where(dist < e, dist, large)
