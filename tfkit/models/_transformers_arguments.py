"""Extra arguments of transformers' calls: outputs such as every layer's states, attention weights, plain tuples; and
inputs in another form, embeddings in place of ids. The models do not implement these: hooks are set around the one
call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from .. import tracing
from ._output import Output
from ._vocabulary import input_table

STATES, WEIGHTS = "hidden_states", "attentions"
EMBEDS = {"inputs_embeds": "input_ids", "decoder_inputs_embeds": "decoder_input_ids"}


def call_with_transformers_arguments(
    model: Any, call: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]
) -> Output | tuple[Any, ...]:
    """Calls the model with these arguments handled outside it; see `Model.__call__`."""
    hidden, weights, as_dict = (
        given.pop(name, None) for name in ("output_hidden_states", "output_attentions", "return_dict")
    )
    for name in ("past_key_values", "cache_params"):
        if (past := given.pop(name, None)) is not None:
            if given.get("cache") is not None:
                raise ValueError(f"{name} and cache are the same argument: pass only one of them")
            given["cache"] = past
    if args and any(given.get(name) is not None for name in EMBEDS):
        raise ValueError("input_ids and inputs_embeds exclude each other: pass one of them, by name")
    with ExitStack() as around:
        around.enter_context(replace_ids(model, given))
        states = around.enter_context(layer_states(model)) if hidden else None
        recorded = around.enter_context(attention_weights(model)) if weights else None
        out = call(*args, **given)
    if states:
        more = model.name_states(states, out) if hasattr(model, "name_states") else prefix_by_side(states, STATES)
        out = Output({**out, **more})
    if recorded is not None:
        sides, named = attentions(model, recorded), hasattr(model, "name_attentions")
        out = Output({**out, **(model.name_attentions(sides, out) if named else prefix_by_side(sides, WEIGHTS))})
    return out if as_dict is None or as_dict else out[:]


def stacks(model: nn.Module) -> Iterator[tuple[str, list[nn.Module]]]:
    """Each stack of layers with its side: "encoder", "decoder", or "" for a model with only one side."""
    found: dict[str, list[nn.Module]] = {}
    for path, module in model.named_modules():
        side = next((side for side in ("decoder", "encoder") if side in path.split(".")), "")
        last = path.rpartition(".")[2]
        if isinstance(module, nn.ModuleList) and last in ("layers", "encoder", "decoder"):
            children = [m for m in module.children() if not isinstance(m, nn.ModuleList)]
            children = children or [m for inner in module.children() for m in inner.children()]  # ALBERT's groups
            found[side] = found.get(side, []) + children
    found = {side: layers for side, layers in found.items() if layers}
    is_single = len(found) == 1
    for side, layers in found.items():
        yield "" if is_single else side, layers


@contextmanager
def layer_states(model: Any) -> Iterator[dict[str, list[torch.Tensor]]]:
    """A context that yields side -> the input of each layer and finally the output of the stack, [B,L,E] each. A model
    whose layers do not read one state per token has `hook_states(note)`, which returns the handles of its own hooks."""
    found: dict[str, list[torch.Tensor]] = {}
    with ExitStack() as around:
        if hasattr(model, "hook_states"):
            found[""] = []
            for handle in model.hook_states(found[""].append):
                around.callback(handle.remove)
            yield found
            return
        for side, layers in stacks(model):
            found[side] = []

            def read(_module: nn.Module, args: tuple[Any, ...], into: list[torch.Tensor] = found[side]) -> None:
                into.append(args[0])

            for layer in layers:
                around.callback(layer.register_forward_pre_hook(read).remove)
        for part, name, side in getattr(model, "endings", own_endings(model)):
            around.enter_context(_ending(part, name, found.get(side, found.get("", []))))
        yield found


def own_endings(model: Any) -> list[tuple[Any, str, str]]:
    """Which methods return a stack's last states: (model, method, side). A model of several models has `endings`."""
    sides = {"hidden": "", "encode": "encoder", "decode": "decoder"}
    return [(model, name, side) for name, side in sides.items() if hasattr(model, name)]


@contextmanager
def _ending(model: Any, name: str, into: list[torch.Tensor]) -> Iterator[None]:
    """A context in which the result of the model's method `name` is recorded as the last state."""
    method = getattr(model, name)

    def record_output(*args: Any, **given: Any) -> torch.Tensor | Output | tuple[torch.Tensor, ...]:
        out: torch.Tensor | Output | tuple[torch.Tensor, ...] = method(*args, **given)
        into.append(out if isinstance(out, torch.Tensor) else out[0])
        return out

    object.__setattr__(model, name, record_output)
    try:
        yield
    finally:
        object.__delattr__(model, name)


class Weights(tracing.Recorder):
    """Attention weights in the order of computation, each with the name of its module."""

    def __init__(self) -> None:
        super().__init__(("*.weights", "*.mixed_weights", *(f"*.{what}" for what in tracing.POSITIONS)))
        self.order: list[tuple[str, torch.Tensor]] = []

    def record(self, what: str, value: torch.Tensor) -> None:
        """Records a value. Weights that a module mixes across heads replace those before."""
        if what == "mixed_weights":
            self.order.pop()
        if what in ("weights", "mixed_weights") or what in tracing.POSITIONS:
            name = "weights" if what == "mixed_weights" else what
            self.order.append((f"{self.path[-1] if self.path else ''}.{name}", value.detach()))


@contextmanager
def attention_weights(model: nn.Module) -> Iterator[Weights]:
    """A context that yields the attention weights of the model. Raises RuntimeError inside a trace."""
    recorded = Weights()
    with tracing.recording(model, recorded):
        yield recorded


def attentions(model: nn.Module, recorded: Weights) -> dict[str, list[torch.Tensor]]:
    """Side, or "cross" -> the weights, [B,H,Q,K] per layer. Raises ValueError if they do not cover all keys."""
    if any(not name.endswith(".weights") for name, _ in recorded.order):
        raise ValueError(
            f"output_attentions: {type(model).__name__}'s attention weights do not cover all keys; "
            "tfkit.trace(model) records them with their positions"
        )
    found: dict[str, list[torch.Tensor]] = {}
    sides = {side for side, _ in stacks(model)}
    for name, weights in recorded.order:
        parts = name.split(".")
        side = next((side for side in ("decoder", "encoder") if side in parts and side in sides), "")
        found.setdefault("cross" if any("cross" in part for part in parts) else side, []).append(weights)
    return found


def prefix_by_side(found: dict[str, list[torch.Tensor]], what: str) -> dict[str, tuple[torch.Tensor, ...]]:
    """{"encoder": …} -> {"encoder_hidden_states": …}"""
    return {f"{side}_{what}".lstrip("_"): tuple(tensors) for side, tensors in found.items() if tensors}


def require_dtype(name: str, vectors: torch.Tensor, table: torch.Tensor) -> None:
    """Raises ValueError for vectors of another dtype than the table that they replace, outside of autocast."""
    cast = vectors.is_floating_point() and torch.is_autocast_enabled(vectors.device.type)
    if table.is_floating_point() and vectors.dtype != table.dtype and not cast:
        raise ValueError(
            f"{name} is {vectors.dtype}, the model's embeddings are {table.dtype}: give {name}.to({table.dtype})"
        )


@contextmanager
def replace_ids(model: Any, given: dict[str, Any]) -> Iterator[None]:
    """A context in which looking up tokens gives the vectors [B,L,E] in `given`, in which placeholder ids replace
    them."""
    waiting: dict[nn.Module, list[torch.Tensor]] = {}
    for name, ids in EMBEDS.items():
        if (vectors := given.pop(name, None)) is not None:
            if given.get(ids) is not None:
                raise ValueError(f"{ids} and {name} exclude each other: pass one of them")
            pad = getattr(model.config, "pad_token_id", None)
            given[ids] = torch.full(vectors.shape[:-1], int(pad == 0), device=vectors.device)
            scale = model.config.d_model**0.5 if getattr(model.config, "scale_embedding", False) else 1.0
            own = getattr(model, "decoder_embed", None) if name.startswith("decoder") else None
            table = input_table(model)[1] if own is None else own
            assert isinstance(table.weight, torch.Tensor)
            if vectors.shape[-1] != (width := table.weight.size(-1)):
                raise ValueError(f"{name} has shape {list(vectors.shape)}: the model's width is {width}")
            require_dtype(name, vectors, table.weight)
            found = waiting.setdefault(table, [])
            # divided by the scale that the model will apply
            found.append((vectors.flatten(0, -3) if vectors.dim() > 3 else vectors) / scale)

    def replace_embeddings(module: nn.Module, _args: Any, out: torch.Tensor) -> torch.Tensor:
        return waiting[module].pop(0) if waiting[module] else out

    with ExitStack() as around:
        for table in waiting:
            around.callback(table.register_forward_hook(replace_embeddings).remove)
        yield
