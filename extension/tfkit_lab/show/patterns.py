"""Attention as one matrix per head, with the kind of every key: assembled from the recorded blocks of sparse attention,
and named for attention with memories, streams or orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tfkit import tracing
from tfkit.nn.relative_attention import RelativeScores

KEEP = tuple(f"*{what}" for what in ("weights", "seen", "buckets", *tracing.POSITIONS))
STREAMS = (", content", ", query")


@dataclass(frozen=True)
class Layer:
    """weights [H,Q,K]; kinds uint8 [H,Q,K], numbers in `tracing.KINDS`; order: a name and int64 [H or 1,K], or None:
    the values by which the keys may be sorted, and with them the queries, which are the last Q keys."""

    name: str
    weights: Tensor
    kinds: Tensor
    order: tuple[str, Tensor] | None = None


def layers(
    model: nn.Module,
    recorder: tracing.Recorder,
    length: int,
    has_query: Tensor | None = None,
    steps: Tensor | None = None,
) -> Iterator[Layer]:
    """Every attention in one forward pass of a tfkit model over one sentence of `length` tokens, traced with `KEEP`.
    has_query: for two streams, bool [L]: where the second has a query, or None; steps: for an order, int64 [L]: the
    step of each position, or None."""
    for path in [name.removesuffix("weights") for name in recorder if name.endswith("weights")]:
        name = path.rstrip(".")
        if f"{path}rows" in recorder:
            weights, kinds = (t[:, :length, :length] for t in dense_weights(recorder, path))
            yield Layer(name, weights, kinds, hashed_pattern(recorder, path, length))
            continue
        calls = recorder.all(f"{path}weights")
        masks = recorder.all(f"{path}seen") if f"{path}seen" in recorder else [weights > 0 for weights in calls]
        for stream in STREAMS[-len(calls) :] if has_query is not None else ("",):
            at = -1 if stream != STREAMS[0] else 0
            weights, kinds = full_pattern(calls[at], masks[at], model.get_submodule(name))
            if stream == STREAMS[1] and has_query is not None:  # other positions have no query
                weights, kinds = weights * has_query[:, None], kinds * has_query[:, None]
            yield Layer(name + stream, weights, kinds, None if steps is None else turns(steps, weights.size(-1)))


def full_pattern(weights: Tensor, mask: Tensor, module: nn.Module) -> tuple[Tensor, Tensor]:
    """For attention over all keys in the order of the text: weights and mask [1,H,Q,K] -> weights, kinds."""
    mask, keys, past = mask.expand_as(weights), weights.size(-1), 0
    if isinstance(module, RelativeScores):  # the queries may be in blocks, as if they were heads
        weights, mask = (t.reshape(1, module.n_heads, -1, keys) for t in (weights, mask))
        past = keys - weights.size(2)
    kind = torch.full((keys,), tracing.KINDS.index("text"), dtype=torch.uint8, device=mask.device)
    kind[:past] = tracing.KINDS.index("memory")
    return weights[0], mask[0] * kind


def turns(steps: Tensor, keys: int) -> tuple[str, Tensor]:
    """The steps of the keys; memory comes before all of them."""
    return "turn", torch.cat([steps.new_zeros(keys - len(steps)), steps + 1])[None]


def hashed_pattern(recorder: tracing.Recorder, path: str, length: int) -> tuple[str, Tensor] | None:
    """The buckets of the first round, if there are any."""
    return ("bucket", recorder[f"{path}buckets"][0, :, 0, :length].long()) if f"{path}buckets" in recorder else None


def dense_weights(recorder: tracing.Recorder, path: str) -> tuple[Tensor, Tensor]:
    """For attention in blocks, from the positions in `tracing.POSITIONS`: each weight at its place -> weights, kinds,
    including the padding of the last block."""
    recorded = list(zip(*(recorder.all(path + what) for what in ("weights", "seen", *tracing.POSITIONS)), strict=True))
    heads, size = (1 + max(int(call[at].max()) for call in recorded) for at in (2, 3))
    weights, kinds = torch.zeros(heads, size, size), torch.zeros(heads * size * size, dtype=torch.int64)
    for call in recorded:
        weight, may, head, row, column, kind = (t.cpu() for t in call)
        head, row = head[..., None].expand(weight.shape[:-1]), row.expand(weight.shape[:-1])
        weights[head, row] = 0  # recorded again
        place = ((head * size + row) * size)[..., None] + column
        at = may.expand_as(weight)
        weights.view(-1).index_put_((place[at],), weight[at].float(), accumulate=True)
        kinds.scatter_reduce_(0, place[at], kind.expand_as(weight)[at], "amax")
    return weights, kinds.view_as(weights).to(torch.uint8)
