import torch


def lsh_buckets(vectors, rotations):
    rotated = vectors @ rotations
    place = rotated.abs().argmax(-1)
    turned = rotated.gather(-1, place.unsqueeze(-1)).squeeze(-1) < 0
    return place + rotations.shape[1] * turned.long()
