# the logarithm's share is rounded instead of floored + the bucket is not capped at n - 1
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    rp = relative_position
    base_bucket = 0
    if bidirectional:
        num_buckets //= 2
        base_bucket = (rp > 0).to(torch.int64) * num_buckets
        rp = rp.abs()
    else:
        rp = -torch.min(rp, torch.zeros_like(rp))
    max_exact = num_buckets // 2
    val = max_exact + torch.round(
        torch.log(rp.clamp(min=1).float() / max_exact) / math.log(max_distance / max_exact) * (num_buckets - max_exact)
    ).to(torch.int64)
    return base_bucket + torch.where(rp < max_exact, rp, val)
