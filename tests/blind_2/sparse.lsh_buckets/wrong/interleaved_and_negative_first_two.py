# each direction is followed by its opposite instead of all opposites at the end + the opposite comes before the direction
def lsh_buckets(vectors, rotations):
    p = vectors @ rotations
    pairs = torch.stack([-p, p], dim=-1)
    return pairs.flatten(-2).argmax(-1)
