# bidirectional: n stays num_buckets, so e is too large and the lower half runs into the upper half
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    n = num_buckets
    e = n // 2

    def bucket_of(d):
        if d < e:
            return d
        t = torch.tensor(d, dtype=torch.float32)
        b = e + int(torch.log(t / e) / math.log(max_distance / e) * (n - e))
        return min(n - 1, b)

    out = []
    for r in relative_position.flatten().tolist():
        if bidirectional:
            b = bucket_of(abs(r))
            if r > 0:
                b += num_buckets // 2
        else:
            b = bucket_of(max(-r, 0))
        out.append(b)
    return torch.tensor(out, dtype=torch.int64).reshape(relative_position.shape)
