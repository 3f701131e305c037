"""The attention weights of every head and layer in one forward pass of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tfkit import tracing
from tfkit.decode.attention_maps import compress, fit_budget, max_pool, pack, quantize_weights
from tfkit.decode.decoders import is_tfkit_model
from tfkit.decode.generate import evaluating
from tfkit.objectives.permutation_lm import permutation_masks
from tfkit_lab.figure import picture, pooled_names
from tfkit_lab.pictures import Picture, table
from tfkit_lab.show.patterns import KEEP, Layer, layers
from tfkit_lab.trace import inflate, pooling, weights
from tfkit_lab.widgets import STATIC

BUDGET = 1_500_000  # bytes of all maps as JSON: 12 × 12 heads over 128 × 128 positions without pooling


def attention(
    model: nn.Module, *, tokens: Sequence[str] = (), keys: Sequence[str] = (), title: str = "", training: bool = False,
    budget: int = BUDGET, **inputs: Any,
) -> Attention:  # fmt: skip
    """Every attention in one forward pass `model(**inputs)` over one sentence. tokens, keys: names of the queries'
    positions, and of the keys' if they differ. A tfkit model is traced, and the kinds of its keys are named: memory,
    window, global, random, bucket; training: in training mode (only there BigBird has random blocks). In other models,
    submodules that return `(output, weights [1,H,Q,K])` are recorded. budget: bytes; larger maps are max-pooled
    until they fit, and no longer sorted. Raises ValueError if no attention is found."""
    return record_attention(model, inputs, None, training, tokens=tokens, keys=keys, title=title, budget=budget)


def two_streams(
    model: nn.Module, *, input_ids: Tensor, order: Sequence[int], tokens: Sequence[str] = (), keys: Sequence[str] = (),
    title: str = "", **inputs: Any,
) -> Attention:  # fmt: skip
    """An XLNet that predicts every word of input_ids [1,L] in an order: order[t] is the position predicted at step t.
    Each layer has two maps: the content stream sees itself and earlier steps, the query stream only earlier steps.
    Raises ValueError if order is not a permutation of the positions."""
    turn = torch.as_tensor(order)
    if sorted(turn.tolist()) != list(range(input_ids.size(1))):
        raise ValueError(f"order must name each position from 0 to {input_ids.size(1) - 1} once; got {turn.tolist()}")
    _, query = permutation_masks(turn)
    given = {"input_ids": input_ids, "perm_mask": (~query).float()[None], "target_mapping": torch.eye(len(turn))[None]}
    return record_attention(model, {**inputs, **given}, turn.argsort(), tokens=tokens, keys=keys, title=title)


def record_attention(
    model: nn.Module, inputs: dict[str, Any], steps: Tensor | None, training: bool = False, *, tokens: Sequence[str],
    keys: Sequence[str], title: str, budget: int = BUDGET,
) -> Attention:  # fmt: skip
    """The picture of one forward pass, of at most `budget` bytes."""
    with training_mode(model) if training else evaluating(model):
        found = trace_layers(model, inputs, steps) if is_tfkit_model(model) else hook_layers(model, inputs)
    if not found:
        raise ValueError(f"{type(model).__name__} recorded no attention: its modules must return (output, [1,H,Q,K])")
    groups: dict[tuple[int, ...], list[Layer]] = {}
    for layer in found:
        groups.setdefault(tuple(layer.weights.shape), []).append(layer)
    stacks = [stack_maps(group) for group in groups.values()]
    longest = max(max(shape) for shape in groups)
    maps = fit_budget(lambda factor: [stack.pack(factor) for stack in stacks], longest, budget)
    past = {cols - rows for stack in stacks if "memory" in stack.present for rows, cols in [stack.maps.shape[-2:]]}
    if past and not keys and tokens:
        keys = [*(f"memory {offset}" for offset in range(-max(past), 0)), *tokens]
    head = {"schema": "tfkit.trace/1", "kind": "attention", "title": title or type(model).__name__}
    return Attention({**head, "tokens": list(tokens), "keys": list(keys), "maps": maps})


@contextmanager
def training_mode(model: nn.Module) -> Iterator[None]:
    """Turn dropout on and gradients off inside the block, then restore the model's mode."""
    was = model.training
    model.train()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was)


@dataclass(frozen=True)
class Stack:
    """Attentions of one shape, as layers of one map. maps: bytes [L,H,Q,K]; kinds: of each an index into `present`,
    names that begin with the one for hidden keys; orders: of each layer, as in `Layer`."""

    names: list[str]
    maps: Tensor
    kinds: Tensor
    present: list[str]
    orders: list[tuple[str, Tensor] | None]

    def pack(self, factor: int) -> dict[str, Any]:
        """Pooled by factor × factor; of causal maps only the lower triangle. Kinds and orders are included if they
        differ from plain text; the kind of a pooled square is that of its strongest key, and pooled positions cannot
        be sorted."""
        square = self.maps.size(-1) == self.maps.size(-2)
        packed = {"names": self.names, **pack(self.maps, square and not bool(self.maps.triu(1).any()), factor)}
        if any(self.orders) or set(self.present) - {"hidden", "text"}:
            both = max_pool(self.maps.short() * len(tracing.KINDS) + self.kinds, factor)
            packed["kinds"] = {"names": self.present, "data": compress((both % len(tracing.KINDS)).to(torch.uint8))}
        if any(self.orders) and factor == 1:
            name = next(order[0] for order in self.orders if order)
            packed["order"] = {"name": name, "of": [order and order[1].tolist() for order in self.orders]}
        return packed


def stack_maps(group: list[Layer]) -> Stack:
    kinds = torch.stack([layer.kinds for layer in group]).cpu()
    present = sorted({0, *kinds.flatten().bincount().nonzero()[:, 0].tolist()})
    places = torch.zeros(len(tracing.KINDS), dtype=torch.uint8)
    places[present] = torch.arange(len(present), dtype=torch.uint8)
    maps = torch.stack([quantize_weights(layer.weights) for layer in group])
    names = [tracing.KINDS[at] for at in present]
    return Stack([layer.name for layer in group], maps, places[kinds.int()], names, [layer.order for layer in group])


def trace_layers(model: Any, inputs: dict[str, Any], steps: Tensor | None) -> list[Layer]:
    """The layers of one forward pass of a tfkit model. Raises ValueError for more than one sentence."""
    ids, mapping = inputs.get("input_ids"), inputs.get("target_mapping")
    if isinstance(ids, Tensor) and len(ids) != 1:
        raise ValueError(f"input_ids has shape {list(ids.shape)}: attention is shown over one sentence, [1,L]")
    with tracing.trace(model, keep=KEEP) as recorded:
        model(**inputs)
    length = ids.size(-1) if isinstance(ids, Tensor) else 0
    return list(layers(model, recorded, length, None if mapping is None else mapping[0].any(0), steps))


def hook_layers(model: nn.Module, inputs: dict[str, Any]) -> list[Layer]:
    """The attentions of any other model, recorded by forward hooks in order of execution; all keys are "text"."""
    recorded: dict[str, Tensor] = {}

    def listen(name: str) -> Any:
        """A forward hook that stores weights under this name; the last of several calls counts."""

        def hook(_module: nn.Module, _args: Any, out: Any) -> None:
            if isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], Tensor) and out[1].dim() == 4:
                recorded[name] = out[1].detach()

        return hook

    handles = [module.register_forward_hook(listen(name)) for name, module in model.named_modules()]
    try:
        model(**inputs)
    finally:
        for handle in handles:
            handle.remove()
    return [
        Layer(name, weights[0], torch.ones_like(weights[0], dtype=torch.uint8)) for name, weights in recorded.items()
    ]


class Attention(Picture):
    """Every head of every layer."""

    _esm = script = STATIC / "attention.js"

    def body(self) -> str:
        """One head of one layer, at `place` or the last one, and the shares of its kinds of keys."""
        maps = self.trace["maps"][min(self.place.get("set", 0), len(self.trace["maps"]) - 1)]
        layer, head = (min(self.place.get(k, 0), maps[f"{k}s"] - 1) for k in ("layer", "head"))
        drawn = [row.ljust(maps["cols"], b"\0") for row in weights(maps, layer, head)]
        names = pooled_names(maps, (self.trace["tokens"], self.trace["keys"] or self.trace["tokens"]))
        shown = picture(drawn, maps["cols"], f"{maps['names'][layer]}, head {head + 1}{pooling(maps)}", names)
        return shown + table(("kind of key", "share of the attention"), shares(maps, layer, head, drawn))


def shares(maps: dict[str, Any], layer: int, head: int, drawn: list[bytes]) -> list[tuple[str, float]]:
    """The share of one head's attention for each kind of key; empty if the kinds are unknown or the weights are
    pooled."""
    if "kinds" not in maps or "pooled" in maps:
        return []
    size = maps["rows"] * maps["cols"]
    kinds = inflate(maps["kinds"]["data"], maps["layers"] * maps["heads"] * size, "kinds")
    start = (layer * maps["heads"] + head) * size
    sums = dict.fromkeys(range(1, len(maps["kinds"]["names"])), 0)
    for kind, weight in zip(kinds[start : start + size], b"".join(drawn), strict=True):
        if kind:
            sums[kind] += weight
    whole = sum(sums.values()) or 1
    return [(maps["kinds"]["names"][kind], weight / whole) for kind, weight in sums.items() if weight]


VIEW = Attention
