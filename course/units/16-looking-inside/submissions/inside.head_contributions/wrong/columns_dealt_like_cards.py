"""You deal the columns of `w_o` out to the heads like cards; head h owns the consecutive columns h*D … (h+1)*D-1."""

import torch


def head_contributions(weights, v, w_o):
    columns = w_o.unflatten(1, (-1, v.size(1))).transpose(1, 2)
    return torch.einsum("bhqd,ehd->bhqe", weights @ v, columns)
