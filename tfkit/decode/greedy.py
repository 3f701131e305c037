"""Greedy decoding: the likeliest token at every step."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def greedy_decode(
    step: Callable[[Tensor], Tensor], start_ids: Tensor, end_id: int, max_new_tokens: int, pad_id: int
) -> Tensor:
    """Continue each row with its likeliest token until it emits `end_id`.

    `step(prefix_ids[N,t])` returns the logits `[N,V]` of the next token. `start_ids` is `[B]`.
    Returns ids `[B, T]`, `T <= 1 + max_new_tokens`, the start included: a row keeps its `end_id` and is filled with
    `pad_id` behind it. Only generated tokens finish a row; decoding stops when all rows are finished.
    """
    ids = start_ids.unsqueeze(1)  # [B,1]
    finished = torch.zeros_like(start_ids, dtype=torch.bool)  # a start that looks like the end finishes nothing
    for _ in range(max_new_tokens):
        if finished.all():
            break
        best = step(ids).argmax(dim=-1).to(ids.device)  # [B]
        best = best.masked_fill(finished, pad_id)
        ids = torch.cat([ids, best.unsqueeze(1)], dim=1)
        finished = finished | (best == end_id)
    return ids
