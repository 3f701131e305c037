# builds a table distance -> bucket first, then looks every distance up
def relative_bucket(relative_position, bidirectional, num_buckets, max_distance):
    n = num_buckets // 2 if bidirectional else num_buckets
    e = n // 2
    rel = relative_position
    ahead = rel > 0
    if bidirectional:
        dist = rel.abs()
    else:
        dist = torch.where(ahead, torch.zeros_like(rel), -rel)
    if dist.numel() == 0:
        return torch.zeros_like(rel)

    biggest = int(dist.max())
    table = torch.arange(biggest + 1, device=rel.device)
    far = table[e:].to(torch.float32)
    steps = torch.log(far / e) / math.log(max_distance / e) * (n - e)
    table[e:] = (e + steps.long()).clamp(max=n - 1)

    result = table[dist]
    if bidirectional:
        result = result + ahead.long() * (num_buckets // 2)
    return result
