# distance 0 is counted as ahead (>= 0) in the bidirectional case + buckets are not capped at n - 1
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    rp = relative_position
    half = num_buckets // 2
    n = half if bidirectional else num_buckets
    e = n // 2
    if bidirectional:
        up = (rp >= 0) * half
        rp = rp.abs()
    else:
        up = 0
        rp = -torch.minimum(rp, torch.zeros_like(rp))
    is_small = rp < e
    safe = torch.where(is_small, e, rp).float()
    big = e + ((safe / e).log() / math.log(max_distance / e) * (n - e)).long()
    return torch.where(is_small, rp, big) + up
