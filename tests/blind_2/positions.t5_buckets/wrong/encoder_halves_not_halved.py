# bidirectional: n is not halved; each side uses all num_buckets and keys ahead are then moved up by num_buckets // 2
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    e = num_buckets // 2
    d = relative_position.abs() if bidirectional else (-relative_position).clamp(min=0)
    out = d.clone()
    far = d >= e
    f = torch.log(d[far].float() / e) / math.log(max_distance / e)
    out[far] = (e + (f * (num_buckets - e)).floor().long()).clamp(max=num_buckets - 1)
    if bidirectional:
        out[relative_position > 0] += num_buckets // 2
    return out
