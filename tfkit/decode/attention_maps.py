"""Attention maps of a model over a finished text, packed for the browser within a budget of bytes."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from tfkit import tracing
from tfkit.decode.decoders import is_tfkit_model

T = TypeVar("T")


def attention(model: nn.Module, source: Tensor | None, ids: Tensor, budget: int) -> dict[str, Any]:
    """Packed maps `self` and `cross` of one forward pass over `ids` [1,T], as far as the model shows them. They are
    pooled until both together take at most `budget` bytes.

    A tfkit model is traced; other models get hooks on the submodules that return `(output, weights [1,H,Q,K])`: those
    with "cross" in their name attend to the source.
    """
    recorded = _trace_weights(model, source, ids) if is_tfkit_model(model) else _hook_weights(model, source, ids)
    kinds: dict[str, list[Tensor]] = {"self": [], "cross": []}
    for name, maps in recorded.items():
        crossing = source is not None and ("self" not in name if is_tfkit_model(model) else "cross" in name)
        kinds["cross" if crossing else "self"].append(maps)
    found = {kind: quantize_weights(torch.cat(maps)) for kind, maps in kinds.items() if maps}
    side = max((max(maps.shape[-2:]) for maps in found.values()), default=1)
    return fit_budget(
        lambda pool: {kind: pack(maps, kind == "self", pool) for kind, maps in found.items()}, side, budget
    )


def _trace_weights(model: Any, source: Tensor | None, ids: Tensor) -> dict[str, Tensor]:
    given = {"input_ids": ids}
    if source is not None:
        given = {"decoder_input_ids": ids, "encoder_outputs": model.encode(source)}
    with tracing.trace(model, keep=("*weights",)) as recorded:
        model(**given)
    return {name: torch.cat(recorded.all(name), dim=-2) for name in recorded}  # a recurrent decoder attends once a step


def _hook_weights(model: Any, source: Tensor | None, ids: Tensor) -> dict[str, Tensor]:
    recorded: dict[str, Tensor] = {}

    def make_hook(name: str) -> Callable[..., Any]:
        """A forward hook that keeps weights [B,H,Q,K] under this name; a later call overwrites an earlier one."""

        def hook(_module: nn.Module, _args: Any, out: Any) -> None:
            if isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], Tensor) and out[1].dim() == 4:
                recorded[name] = out[1].detach()

        return hook

    memory = model.encode(source)
    handles = [module.register_forward_hook(make_hook(name)) for name, module in model.named_modules()]
    try:
        model.decode(ids, memory, source)
    finally:
        for handle in handles:
            handle.remove()
    return recorded


def quantize_weights(weights: Tensor) -> Tensor:
    """Weights of any shape -> round(255 p) as uint8, on the CPU."""
    return weights.float().mul(255).round_().clamp_(0, 255).to(torch.uint8).cpu()


def pack(maps: Tensor, triangle: bool, pool: int = 1) -> dict[str, Any]:
    """uint8 [L,H,Q,K] -> deflated, base64, max-pooled by pool × pool; `triangle`: only the lower triangle with the
    diagonal."""
    small = max_pool(maps, pool)
    layers, heads, rows, cols = small.shape
    values = small
    if triangle:
        row, col = torch.tril_indices(rows, cols)
        values = small[:, :, row, col]
    packed = dict(
        layers=layers, heads=heads, rows=rows, cols=cols, triangle=triangle, data=compress(values, zlib.Z_RLE)
    )
    return packed | ({} if pool == 1 else {"pooled": {"by": pool, "rows": maps.size(-2), "cols": maps.size(-1)}})


def max_pool(maps: Tensor, pool: int) -> Tensor:
    """[...,Q,K], none negative -> [...,⌈Q/pool⌉,⌈K/pool⌉]: max pooling, so that no large weight is lost."""
    if pool == 1:
        return maps
    whole = nn.functional.pad(maps, (0, -maps.size(-1) % pool, 0, -maps.size(-2) % pool))
    narrow: Tensor = whole.unflatten(-1, (-1, pool)).amax(-1)
    return torch.unflatten(narrow, -2, (-1, pool)).amax(-2)


def fit_budget(make: Callable[[int], T], side: int, budget: int) -> T:
    """`make(pool)`, plain JSON of maps that are max-pooled by pool × pool, for the smallest `pool` tried from 1 upwards
    that takes at most `budget` bytes. side: of the largest map. Raises ValueError if even one cell per map takes
    more."""
    pool = 1
    while (size := len(json.dumps(found := make(pool)))) > budget:
        if pool >= side:
            raise ValueError(f"budget is {budget:,} bytes, but one cell per map takes {size:,}: allow at least that")
        # pooled maps compress worse than fine ones: the next size may still be too large, but is never too coarse
        pool = min(side, max(pool + 1, math.floor(pool * math.sqrt(size / budget))))
    return found


def compress(levels: Tensor, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> str:
    """uint8 of any shape -> deflated, base64. Weights are noise with runs of zeros: searching for repeated strings
    takes a hundred times as long as `Z_RLE` and compresses only a tenth better."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS, 9, strategy)
    return base64.b64encode(compressor.compress(levels.contiguous().numpy().tobytes()) + compressor.flush()).decode()
