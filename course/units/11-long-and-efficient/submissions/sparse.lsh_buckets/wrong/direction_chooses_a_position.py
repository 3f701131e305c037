"""You take the largest along the text: you find for each direction a position. Each position wants its direction."""

import torch


def lsh_buckets(vectors, rotations):
    turned = vectors @ rotations
    return torch.cat([turned, -turned], dim=-1).argmax(1)
