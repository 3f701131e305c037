# the hash of random hyperplanes: one bit for each sign, instead of the nearest direction
def lsh_buckets(vectors, rotations):
    R = rotations.shape[-1]
    side = (torch.matmul(vectors, rotations) > 0).long()
    powers = 2 ** torch.arange(R)
    return (side * powers).sum(-1) % (2 * R)
