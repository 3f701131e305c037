"""You number the opposite directions first, or take the farthest direction, which comes to the same.

The buckets 0 to R-1 belong to `xR` itself, R to 2R-1 to `-xR`, and a vector belongs to the nearest."""

import torch


def lsh_buckets(vectors, rotations):
    turned = vectors @ rotations
    return torch.cat([-turned, turned], dim=-1).argmax(-1)
