import torch


def lsh_buckets(vectors, rotations):
    directions = torch.cat([rotations, -rotations], dim=1)
    return torch.einsum("bld,dr->blr", vectors, directions).max(dim=-1).indices
