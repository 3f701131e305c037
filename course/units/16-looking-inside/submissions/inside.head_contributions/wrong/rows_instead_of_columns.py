"""You cut `w_o` into rows; a head reads its *columns*, for nn.Linear keeps a weight as [out, in]."""

import torch


def head_contributions(weights, v, w_o):
    width = v.size(-1)
    mixed = weights @ v
    rows = [w_o[head * width : (head + 1) * width] for head in range(v.size(1))]
    return mixed @ torch.stack(rows)
