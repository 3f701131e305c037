# in a decoder keys ahead get the bucket of their absolute distance instead of bucket 0
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    buckets = 0
    dist = torch.abs(relative_position)
    if bidirectional:
        num_buckets //= 2
        buckets = torch.where(relative_position > 0, num_buckets, 0)
    max_exact = num_buckets // 2
    log_ratio = torch.log(dist.float() / max_exact) / math.log(max_distance / max_exact)
    val = max_exact + torch.floor(log_ratio * (num_buckets - max_exact))
    val = torch.clamp(val, max=num_buckets - 1)
    return buckets + torch.where(dist < max_exact, dist, val.long())
