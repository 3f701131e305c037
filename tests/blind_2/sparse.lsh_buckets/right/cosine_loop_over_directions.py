# makes the 2n directions first, and keeps the best one so far in a loop
def lsh_buckets(vectors, rotations):
    directions = torch.cat([rotations, rotations.neg()], dim=1).unbind(1)    # 2n of [D]
    best = torch.full(vectors.shape[:-1], -math.inf, dtype=vectors.dtype)
    bucket = torch.zeros(vectors.shape[:-1], dtype=torch.int64)
    for number, d in enumerate(directions):
        proj = torch.einsum("...d,d->...", vectors, d)
        better = proj > best
        best = torch.where(better, proj, best)
        bucket = torch.where(better, torch.full_like(bucket, number), bucket)
    return bucket
