import torch.nn.functional as F


def cosine(x, y):
    return F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).transpose(0, 1)
