import torch
from torch.nn.functional import embedding


def direct_attribution(parts, unembed, target, rival):
    return torch.einsum("cble,ble->cbl", parts, embedding(target, unembed) - embedding(rival, unembed))
