"""You draw a rotation of your own. Chance comes in as an argument, so that all who share it get the same buckets."""

import torch


def lsh_buckets(vectors, rotations):
    turned = vectors @ torch.randn_like(rotations)
    return torch.cat([turned, -turned], dim=-1).argmax(-1)
