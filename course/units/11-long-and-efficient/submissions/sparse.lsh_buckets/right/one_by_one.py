import torch


def lsh_buckets(vectors, rotations):
    buckets = torch.empty(vectors.shape[:2], dtype=torch.int64, device=vectors.device)
    for b, row in enumerate(vectors):
        for i, x in enumerate(row):
            turned = x @ rotations
            buckets[b, i] = torch.cat([turned, -turned]).argmax()
    return buckets
