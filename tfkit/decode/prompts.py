"""What goes in first: sources and prompts of unequal length, start symbols, language and control codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tfkit.decode.decoders import is_causal, is_ours

Ids = int | Sequence[int] | None
Rows = Tensor | Sequence[Sequence[int]] | None


def as_rows(rows: Rows, mask: Tensor | None, pad: int, model: Any) -> tuple[Tensor | None, Tensor | None]:
    """Ids [B,L] or lists of unequal length -> int64 [B,L] and the mask, bool [B,L], where one is known."""
    if rows is None:
        return None, None
    if not isinstance(rows, Tensor):
        if not rows or not all(len(row) for row in rows):
            raise ValueError("input_ids holds an empty sentence: each needs one id at least")
        longest = max(map(len, rows))
        mask = torch.tensor([[i < len(row) for i in range(longest)] for row in rows])
        rows = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
        device = next(model.parameters()).device if isinstance(model, torch.nn.Module) else rows.device
        rows, mask = rows.to(device), mask.to(device)
    if mask is not None and mask.shape != rows.shape:
        raise ValueError(f"attention_mask has shape {list(mask.shape)}, input_ids has {list(rows.shape)}")
    return rows, None if mask is None else mask.bool()


def prompts(
    model: Any, ids: Tensor | None, mask: Tensor | None, start: int | None, special: tuple[int, Sequence[int]],
    prefix: Ids | Tensor,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """What the decoder reads first, int64 [B,t], and the mask: of the source or, for a decoder alone, of the prompt.

    special: padding and ends. Raises ValueError where there is nothing to start from.
    """
    if is_causal(model) and ids is not None:
        ids, mask = left_padded(ids, mask, *special)
        before = beginning(prefix, ids)
        if mask is not None and before.size(1):  # codes come before the padding: all rows have them
            mask = torch.cat([torch.ones_like(before, dtype=torch.bool), mask], 1)
        return torch.cat([before, ids], 1), mask
    if start is None:
        raise ValueError(f"{type(model).__name__} has no start symbol: give input_ids, the prompts [B,t]")
    device = next(model.parameters()).device if is_causal(model) else None
    first = torch.tensor([[start]], device=device) if ids is None else torch.full_like(ids[:, :1], start)
    return torch.cat([first, beginning(prefix, first)], 1), mask


def left_padded(ids: Tensor, mask: Tensor | None, pad: int, ends: Sequence[int]) -> tuple[Tensor, Tensor | None]:
    """Prompts [B,t] with their padding moved to the left, so that what is generated follows the last word; and their
    mask, None where all is real. No mask given: padding is what looks like it, unless it is the end symbol too."""
    if mask is None:
        if pad in ends:
            return ids, None
        mask = ids != pad
    if bool(mask.all()):
        return ids, None
    if not bool(mask.any(1).all()):
        raise ValueError("input_ids holds a row of nothing but padding: each needs one real id at least")
    if bool((mask[:, :-1] & ~mask[:, 1:]).any()):
        order = mask.byte().argsort(dim=1, stable=True)
        ids, mask = ids.gather(1, order), mask.gather(1, order)
    return ids, mask


def beginning(prefix: Ids | Tensor, like: Tensor) -> Tensor:
    """-> int64 [B,n]"""
    prefix = [] if prefix is None else [prefix] if isinstance(prefix, int) else prefix
    rows = torch.as_tensor(prefix, dtype=torch.int64, device=like.device)
    return rows if rows.dim() == 2 else rows.expand(len(like), -1)


def special_ids(model: Any, start: int | None, end: Ids, pad: int | None) -> tuple[int | None, tuple[int, ...], int]:
    """The start, end and padding ids: as given, else from the model's config. Raises ValueError for want of a start."""
    config = model.config if is_ours(model) else None
    own = "bos_token_id" if is_causal(model) else "decoder_start_token_id"
    start = getattr(config, own, None) if start is None else start
    end = getattr(config, "eos_token_id", None) if end is None else end
    ends = () if end is None else tuple(i for i in ([end] if isinstance(end, int) else end) if i >= 0)
    if pad is None:
        pad = getattr(config, "pad_token_id", getattr(model, "pad_id", None))
        pad = (ends[0] if ends and is_causal(model) else 0) if pad is None else pad
    if start is None and not is_causal(model):
        raise ValueError(
            f"{type(model).__name__} has no config that names the start symbol: give start_id (and end_id)"
        )
    return start, ends, pad
