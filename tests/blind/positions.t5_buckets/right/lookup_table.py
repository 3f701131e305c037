# one table with the bucket of each distance from 0 to max_distance, then indexing
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    n = num_buckets // 2 if bidirectional else num_buckets
    e = n // 2
    table = torch.arange(max(max_distance, e) + 1, device=relative_position.device)
    far = table[e:]
    log_part = torch.log(far.float() / e) / math.log(max_distance / e) * (n - e)
    table = torch.cat([table[:e], (e + log_part.floor().long()).clamp(max=n - 1)])
    behind = (-relative_position).clamp(min=0, max=len(table) - 1)
    bucket = table[behind]
    if bidirectional:
        ahead = relative_position.clamp(min=0, max=len(table) - 1)
        bucket = torch.where(relative_position > 0, n + table[ahead], bucket)
    return bucket
