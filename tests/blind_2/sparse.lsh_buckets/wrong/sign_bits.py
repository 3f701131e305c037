# the bucket is made of the signs of the projections as a binary number, another hash (SimHash)
def lsh_buckets(vectors, rotations):
    bits = (torch.einsum("bld,dn->bln", vectors, rotations) > 0).long()
    powers = 2 ** torch.arange(rotations.shape[1])
    return (bits * powers).sum(-1) % (2 * rotations.shape[1])
