# with bidirectional the largest bucket is limited to num_buckets - 1 instead of half of it, so far keys behind land in the upper half
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    def one(rel):
        n = num_buckets // 2 if bidirectional else num_buckets
        e = n // 2
        start = 0
        if bidirectional:
            if rel > 0:
                start = n
            d = abs(rel)
        else:
            d = max(-rel, 0)
        if d < e:
            return start + d
        x = torch.log(torch.tensor(d / e)) / math.log(max_distance / e) * (n - e)
        return min(num_buckets - 1, start + e + int(x))
    flat = [one(r) for r in relative_position.flatten().tolist()]
    return torch.tensor(flat, dtype=torch.int64).reshape(relative_position.shape)
