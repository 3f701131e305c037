# each direction is followed by its opposite: [p0, -p0, p1, -p1 ...] instead of [all; all opposites]
def lsh_buckets(vectors, rotations):
    x = vectors @ rotations
    both = torch.stack([x, -x], dim=-1).flatten(-2)
    return both.argmax(dim=-1)
