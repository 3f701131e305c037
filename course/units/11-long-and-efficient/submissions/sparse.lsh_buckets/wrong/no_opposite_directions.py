"""You compare R directions only. Each direction also has its opposite, which is a bucket of its own: there are 2R."""

import torch


def lsh_buckets(vectors, rotations):
    return (vectors @ rotations).argmax(-1)
