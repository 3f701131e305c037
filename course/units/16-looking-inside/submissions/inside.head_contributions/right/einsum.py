import torch


def head_contributions(weights, v, w_o):
    columns = w_o.unflatten(1, (v.size(1), -1))
    return torch.einsum("bhqd,ehd->bhqe", weights @ v, columns)
