"""You pair column 0 with the middle column; here a pair is two neighbours, (0,1), (2,3), and so on.

GPT-NeoX and Hugging Face's LLaMA pair across the halves; GPT-J and Meta's own LLaMA pair neighbours. Weights of one
layout give wrong numbers in code for the other, unless the rows of the query and key projections are rearranged.
"""

import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = base ** (-torch.arange(0, dim, 2).double() / dim)
    angle = positions.double()[:, None] * frequency
    sin, cos = angle.sin().to(x.dtype), angle.cos().to(x.dtype)
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)
