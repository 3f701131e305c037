import torch


def lsh_buckets(vectors, rotations):
    rotated = torch.matmul(vectors, rotations)
    return torch.argmax(torch.cat((rotated, -rotated), dim=-1), dim=-1)
