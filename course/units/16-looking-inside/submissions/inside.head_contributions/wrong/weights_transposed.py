"""You mix over the queries; every query mixes the values of the *keys*: rows of `weights` are queries."""

import torch


def head_contributions(weights, v, w_o):
    columns = w_o.unflatten(1, (v.size(1), -1))
    mixed = weights.transpose(-2, -1) @ v if weights.size(-1) == weights.size(-2) else weights @ v
    return torch.einsum("bhqd,ehd->bhqe", mixed, columns)
