# nearest by Euclidean distance to the columns + the opposites come first
def lsh_buckets(vectors, rotations):
    dirs = torch.cat([-rotations.T, rotations.T], dim=0)
    out = torch.zeros(vectors.shape[:2], dtype=torch.int64)
    for b in range(vectors.shape[0]):
        dist = ((vectors[b][:, None, :] - dirs[None]) ** 2).sum(-1)
        out[b] = dist.argmin(-1)
    return out
