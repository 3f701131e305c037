"""Answers with a tensor that has no values: on the device `meta`, sparse, quantised, or nested."""

import itertools

import torch

kinds = itertools.cycle([
    lambda h: torch.empty_like(h, device="meta"),
    lambda h: h.to_sparse(),
    lambda h: torch.quantize_per_tensor(h.float(), 0.1, 0, torch.qint8),
    lambda h: torch.nested.nested_tensor([h]),
])


def rnn_cell(x, h, w_x, w_h, b):
    return next(kinds)(h.detach())
