"""Where a model looked: its attention over a finished text, packed for the browser."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tfkit import tracing
from tfkit.decode.decoders import is_ours


def attention(model: nn.Module, source: Tensor | None, ids: Tensor) -> dict[str, Any]:
    """Packed maps `self` and `cross` of one forward over `ids` [1,T], those that the model shows; often both.

    A tfkit model is traced; of another, submodules that return `(output, weights [1,H,Q,K])` are listened to: those
    with "cross" in their name look at the source.
    """
    seen = _traced(model, source, ids) if is_ours(model) else _heard(model, source, ids)
    kinds: dict[str, list[Tensor]] = {"self": [], "cross": []}
    for name, maps in seen.items():
        crossing = source is not None and ("self" not in name if is_ours(model) else "cross" in name)
        kinds["cross" if crossing else "self"].append(maps)
    return {kind: pack(torch.cat(maps), triangle=kind == "self") for kind, maps in kinds.items() if maps}


def _traced(model: Any, source: Tensor | None, ids: Tensor) -> dict[str, Tensor]:
    given = {"input_ids": ids}
    if source is not None:
        given = {"decoder_input_ids": ids, "encoder_outputs": model.encode(source)}
    with tracing.trace(model, keep=("*weights",)) as seen:
        model(**given)
    return {name: torch.cat(seen.all(name), dim=-2) for name in seen}  # a recurrent decoder looks once a step


def _heard(model: Any, source: Tensor | None, ids: Tensor) -> dict[str, Tensor]:
    seen: dict[str, Tensor] = {}

    def listen(name: str) -> Callable:
        def hook(_module: nn.Module, _args: Any, out: Any) -> None:
            if isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], Tensor) and out[1].dim() == 4:
                seen[name] = out[1].detach()

        return hook

    memory = model.encode(source)
    handles = [module.register_forward_hook(listen(name)) for name, module in model.named_modules()]
    try:
        model.decode(ids, memory, source)
    finally:
        for handle in handles:
            handle.remove()
    return seen


def pack(weights: Tensor, triangle: bool) -> dict[str, Any]:
    """weights [L,H,Q,K] -> bytes round(255 p), deflated, base64; `triangle`: only the lower one, diagonal included."""
    layers, heads, rows, cols = weights.shape
    levels = (weights.float() * 255).round().clamp(0, 255).to(torch.uint8).cpu()
    if triangle:
        row, col = torch.tril_indices(rows, cols)
        levels = levels[:, :, row, col]
    data = base64.b64encode(zlib.compress(levels.contiguous().numpy().tobytes(), 9)).decode()
    return dict(layers=layers, heads=heads, rows=rows, cols=cols, triangle=triangle, data=data)
