# in a decoder, keys ahead get the bucket of their absolute distance instead of bucket 0
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    ahead = relative_position > 0
    delta = torch.abs(relative_position)
    n = num_buckets // 2 if bidirectional else num_buckets
    e = n // 2
    safe = torch.where(delta < e, torch.full_like(delta, e), delta).to(torch.float32)
    steps = torch.floor(torch.log(safe / e) / math.log(max_distance / e) * (n - e)).to(torch.int64)
    bucket = torch.where(delta < e, delta, torch.minimum(e + steps, torch.tensor(n - 1)))
    if bidirectional:
        bucket = bucket + ahead * n
    return bucket
