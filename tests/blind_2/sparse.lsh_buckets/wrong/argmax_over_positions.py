# argmax runs over the positions instead of over the directions
def lsh_buckets(vectors, rotations):
    xr = torch.matmul(vectors, rotations)
    both = torch.cat([xr, -xr], dim=2)
    return torch.max(both, dim=1).indices
