# takes relative_position as query minus key + rounds the logarithm instead of taking the floor
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    n = num_buckets
    bucket = torch.zeros_like(relative_position)
    if bidirectional:
        n = n // 2
        bucket = bucket + n * (relative_position < 0)
        d = relative_position.abs()
    else:
        d = relative_position.clamp(min=0)
    e = n // 2
    logs = torch.log(d.float().clamp(min=e) / e) / math.log(max_distance / e)
    big = e + torch.round(logs * (n - e)).long()
    big = big.clamp(max=n - 1)
    return bucket + torch.where(d < e, d, big)
