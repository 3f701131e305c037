"""You compare sizes without the sign, so a vector and its opposite share a bucket: the two that are farthest apart."""

import torch


def lsh_buckets(vectors, rotations):
    return (vectors @ rotations).abs().argmax(-1)
