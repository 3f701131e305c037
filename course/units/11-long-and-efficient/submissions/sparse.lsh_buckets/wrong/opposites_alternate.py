"""You put each direction next to its opposite; the numbering is all of `xR` first, then all of `-xR`."""

import torch


def lsh_buckets(vectors, rotations):
    turned = vectors @ rotations
    return torch.stack([turned, -turned], dim=-1).flatten(-2).argmax(-1)
