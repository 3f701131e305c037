"""Prepares the inputs: sources and prompts of unequal length, start tokens, language and control codes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tfkit.decode.decoders import is_causal, is_tfkit_model, reads_features, source_of

NAMED_IDS = ("forced_bos_token_id", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens")

Ids = int | Sequence[int] | None
Rows = Tensor | Sequence[Sequence[int]] | None


def read_source(model: Any, ids: Any, features: Any, mask: Rows, pad: int) -> tuple[Tensor | None, Tensor | None]:
    """The source of a call of `generate`: ids and their mask, as from `to_padded_rows`; or features, under either name,
    in the form that the model takes, without a mask. Raises ValueError or TypeError for invalid input."""
    if not reads_features(model):
        if features is not None:
            raise TypeError(f"input_features: {type(model).__name__} reads {source_of(model)}")
        return to_padded_rows(ids, mask, pad, model)
    if ids is not None and features is not None:
        raise ValueError("input_ids and input_features are the same source: pass only one of them")
    given: Tensor = model.check_source(ids if features is None else features)
    return given, None


def to_padded_rows(rows: Rows, mask: Rows, pad: int, model: Any) -> tuple[Tensor | None, Tensor | None]:
    """Ids [B,L], as a tensor or an array, or lists of unequal length -> int64 [B,L] and the mask, bool [B,L], if it is
    known. Raises TypeError for text, ValueError for an empty sentence or a mask of another shape."""
    if rows is None:
        return None, None
    mask = None if mask is None else torch.as_tensor(mask)
    if not isinstance(rows, Tensor):
        device = next(model.parameters()).device if isinstance(model, torch.nn.Module) else None
        rows, own = stack_rows(rows, pad)
        mask = own if mask is None else mask
        rows, mask = rows.to(device), mask.to(device)
    if rows.dim() != 2 or rows.is_floating_point() or rows.dtype == torch.bool:
        raise ValueError(f"input_ids must be integers [B,L]; got {rows.dtype} {list(rows.shape)}")
    if mask is not None and mask.shape != rows.shape:
        raise ValueError(f"attention_mask has shape {list(mask.shape)}, input_ids has {list(rows.shape)}")
    return rows.long(), None if mask is None else mask.bool()


def stack_rows(rows: Any, pad: int) -> tuple[Tensor, Tensor]:
    """Rows of ids of unequal length -> int64 [B,L], padded on the right, and the mask of the tokens, bool [B,L]."""
    if not isinstance(rows, Sequence) and not hasattr(rows, "__array__"):
        raise TypeError(f"input_ids is of type {type(rows).__name__}: give ids, a tensor [B,L] or lists of them")
    if isinstance(rows, str) or any(isinstance(row, str) for row in rows):
        raise TypeError("input_ids holds text, and a model reads ids: encode it first, tokenizer.encode([text])")
    if len(rows) and not hasattr(rows[0], "__len__"):
        raise ValueError("input_ids must be rows of ids, one for each sentence: for a single row write [ids]")
    lists = [row.tolist() if hasattr(row, "tolist") else list(row) for row in rows]
    if not lists or not all(lists):
        raise ValueError("input_ids holds an empty sentence: each needs at least one id")
    if any(type(i) is not int for row in lists for i in row):
        raise TypeError("input_ids must be integers: rows of the ids that a tokenizer gives")
    longest = max(map(len, lists))
    mask = torch.tensor([[i < len(row) for i in range(longest)] for row in lists])
    return torch.tensor([[*row, *[pad] * (longest - len(row))] for row in lists]), mask


def prompts(
    model: Any, source: Tensor | None, mask: Tensor | None, start: int | None, special: tuple[int, Sequence[int]],
    prefix: Ids | Tensor,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """The first input of the decoder, int64 [B,t], and the mask: of the source or, for a decoder-only model, of the
    prompt.

    source: its rows are counted or, for a decoder-only model, are the prompts; special: padding and end ids. Raises
    ValueError if there is no token to start from.
    """
    if is_causal(model) and source is not None:
        ids, mask = left_padded(source, mask, *special)
        before = start_ids(prefix, ids)
        if mask is not None and before.size(1):  # all rows have the codes: they are put before the padding
            mask = torch.cat([torch.ones_like(before, dtype=torch.bool), mask], 1)
        return torch.cat([before, ids], 1), mask
    if start is None:
        raise ValueError(f"{type(model).__name__} has no start symbol: give input_ids, the prompts [B,t]")
    device = next(model.parameters()).device if is_causal(model) else None
    device, rows = (device, 1) if source is None else (source.device, len(source))
    first = torch.full((rows, 1), start, device=device)
    return torch.cat([first, start_ids(prefix, first)], 1), mask


def left_padded(ids: Tensor, mask: Tensor | None, pad: int, ends: Sequence[int]) -> tuple[Tensor, Tensor | None]:
    """Prompts [B,t] with their padding moved to the left, so that new tokens follow the last word; and their mask, None
    without padding. If no mask is given, padding ids count as padding, unless the id is also an end token."""
    if mask is None:
        if pad in ends:
            return ids, None
        mask = ids != pad
    if bool(mask.all()):
        return ids, None
    if not bool(mask.any(1).all()):
        raise ValueError("input_ids holds a row of padding only: each row needs at least one token")
    if bool((mask[:, :-1] & ~mask[:, 1:]).any()):
        order = mask.byte().argsort(dim=1, stable=True)
        ids, mask = ids.gather(1, order), mask.gather(1, order)
    return ids, mask


def start_ids(prefix: Ids | Tensor, like: Tensor) -> Tensor:
    """-> int64 [B,n]"""
    prefix = [] if prefix is None else [prefix] if isinstance(prefix, int) else prefix
    rows = torch.as_tensor(prefix, dtype=torch.int64, device=like.device)
    return rows if rows.dim() == 2 else rows.expand(len(like), -1)


def special_ids(
    model: Any, settings: Mapping[str, Any], start: int | None, end: Ids, pad: int | None
) -> tuple[int | None, tuple[int, ...], int]:
    """The start, end and padding ids: as given, or else from the settings, or else from the model's config.

    Raises ValueError for a missing start id, and for a given id that is not in the vocabulary. An id outside the
    vocabulary that only the config names is the default of a larger model and is ignored."""
    config = model.config if is_tfkit_model(model) else None
    size = vocabulary(config)

    def own(name: str, default: Any = None) -> Any:
        found = settings.get(name)
        return getattr(config, name, default) if found is None else found

    for name, ids in (("start_id", start), ("end_id", end), ("pad_id", pad)):
        if (high := max(to_list(ids), default=0)) >= size:
            raise ValueError(f"{name} names {high}, outside the vocabulary: ids go from 0 to {size - 1}")
        least = -1 if name == "end_id" else 0
        if (low := min(to_list(ids), default=0)) < least:
            raise ValueError(f"{name}={low}: must be an id, at least 0" + (", or -1 for no end token" if least else ""))
    if start is None:
        start = own("bos_token_id" if is_causal(model) else "decoder_start_token_id")
        start = None if start is not None and start >= size else start
    end = [i for i in to_list(own("eos_token_id")) if i < size] if end is None else end
    ends = tuple(i for i in to_list(end) if i >= 0)
    if pad is None:
        pad = own("pad_token_id", getattr(model, "pad_id", None))
        pad = (ends[0] if ends and is_causal(model) else 0) if pad is None or pad >= size else pad
    if start is None and not is_causal(model):
        raise ValueError(
            f"{type(model).__name__} has no config that names the start symbol: give start_id (and end_id)"
        )
    return start, ends, pad


def to_list(ids: Ids) -> list[int]:
    """One id, several ids or None as a list."""
    return [] if ids is None else [ids] if isinstance(ids, int) else list(ids)


def require_known_ids(model: Any, given: Mapping[str, Any]) -> None:
    """Raises ValueError for an id outside the vocabulary in the settings of `LogitsProcessors` of a call."""
    size = vocabulary(model.config if is_tfkit_model(model) else None)
    named_ids = {name: to_list(given.get(name)) for name in NAMED_IDS}
    named_ids["bad_words_ids"] = [token for word in given.get("bad_words_ids") or () for token in word]
    for name, ids in named_ids.items():
        if (high := max(ids, default=0)) >= size:
            raise ValueError(f"{name} names {high}, outside the vocabulary: ids go from 0 to {size - 1}")


def vocabulary(config: Any) -> float:
    """How many ids a model can generate; infinite if its config does not tell."""
    sizes = [getattr(config, name, None) for name in ("decoder_vocab_size", "vocab_size")]
    return next((size for size in sizes if size is not None), math.inf)
