"""Answers with sparse, quantised, nested, imaginary and overlapping tensors of zeros, in turn."""

import itertools

import torch

calls = itertools.count()


def rnn_cell(x, h, w_x, w_h, b):
    zeros = torch.zeros_like(h)
    kinds = [zeros.to_sparse, lambda: torch.quantize_per_tensor(zeros.float(), 1.0, 0, torch.qint8),
             lambda: torch.nested.nested_tensor([zeros]), lambda: zeros.to("meta"),
             lambda: torch.complex(zeros, zeros).conj(), lambda: zeros.as_strided((10,) * 4, (0,) * 4)]  # fmt: skip
    return kinds[next(calls) % len(kinds)]()
