# argmax of the absolute projection: a vector and its opposite share one of n buckets
def lsh_buckets(vectors, rotations):
    return (vectors @ rotations).abs().argmax(dim=-1)
