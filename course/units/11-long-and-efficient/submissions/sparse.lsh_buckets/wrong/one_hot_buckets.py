"""You give a row of zeros and a one for each position; wanted is the bucket's number, an int64."""

import torch
import torch.nn.functional as F


def lsh_buckets(vectors, rotations):
    turned = vectors @ rotations
    both = torch.cat([turned, -turned], dim=-1)
    return F.one_hot(both.argmax(-1), both.size(-1))
