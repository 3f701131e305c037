"""You divide the layer's output evenly among the heads; some heads add a lot and some nothing."""

import torch


def head_contributions(weights, v, w_o):
    columns = w_o.unflatten(1, (v.size(1), -1))
    total = torch.einsum("bhqd,ehd->bqe", weights @ v, columns)
    return (total / v.size(1)).unsqueeze(1).expand(-1, v.size(1), -1, -1)
