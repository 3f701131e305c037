# the largest and the smallest product of each vector are compared, nothing is concatenated
def lsh_buckets(vectors, rotations):
    products = torch.einsum("bld,dr->blr", vectors, rotations)
    up = products.max(dim=-1)
    down = (-products).max(dim=-1)
    number = rotations.shape[1]
    return torch.where(up.values >= down.values, up.indices, down.indices + number)
