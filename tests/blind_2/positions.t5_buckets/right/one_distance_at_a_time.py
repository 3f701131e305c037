# style: a helper for one distance, applied to the flattened list; only the logarithm is a tensor
def _one(rel, both, num_buckets, max_distance):
    offset = 0
    n = num_buckets
    if both:
        n = num_buckets // 2
        if rel > 0:
            offset = n
        dist = abs(rel)
    else:
        dist = -rel if rel < 0 else 0
    e = n // 2
    if dist < e:
        return offset + dist
    log32 = torch.log(torch.tensor(float(dist), dtype=torch.float32) / e)
    share = log32 / math.log(max_distance / e) * (n - e)
    return offset + min(n - 1, e + int(torch.floor(share)))


def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    flat = relative_position.flatten().tolist()
    got = [_one(r, bidirectional, num_buckets, max_distance) for r in flat]
    return torch.tensor(got, dtype=torch.int64, device=relative_position.device).reshape(relative_position.shape)
