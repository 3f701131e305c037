"""You use the first head's columns of `w_o` for all heads; each head has its own."""

import torch


def head_contributions(weights, v, w_o):
    columns = w_o.unflatten(1, (v.size(1), -1))[:, 0]
    return torch.einsum("bhqd,ed->bhqe", weights @ v, columns)
