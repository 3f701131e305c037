"""You read the signs as a binary number. That is another hash, with 2^R buckets; here the nearest of 2R directions counts."""

import torch


def lsh_buckets(vectors, rotations):
    bits = (vectors @ rotations > 0).long()
    return (bits * 2 ** torch.arange(bits.size(-1), device=bits.device)).sum(-1)
