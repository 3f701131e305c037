# takes the absolute distance for the decoder too, so keys ahead get the buckets of keys behind
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    n = num_buckets // 2 if bidirectional else num_buckets
    e = n // 2
    dist = torch.abs(relative_position)
    result = dist.clone()
    far = dist >= e
    ratio = torch.log(dist[far].to(torch.float32) / e) / math.log(max_distance / e)
    result[far] = (e + torch.floor(ratio * (n - e)).to(torch.int64)).clamp(max=n - 1)
    if bidirectional:
        result[relative_position > 0] += n
    return result
