"""Direct logit attribution: what each layer's parts add to the logits of some tokens (Elhage et al. 2021)."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from ..nn.rms_norm import RMSNorm
from .edits import edit
from .layers import BlockOutput, block_outputs, in_last_block, states_of

Named = list[tuple[str, Tensor]]
NORMS = (nn.LayerNorm, nn.RMSNorm, RMSNorm)


def logit_contributions(
    model: nn.Module, targets: Tensor, position: int = -1, **inputs: Any
) -> tuple[list[str], Tensor]:
    """What each part of the residual stream adds to the logits of `targets` int64 [K] at one position of one text.

    -> ("input" for the input of the first block, then the paths of the attentions and feed-forward layers, and at last
    "rest"; [parts, K]). The parts add up to the logits. The scale of the final norm is held at its actual value; "rest"
    is what no part adds: biases behind the blocks, and what is not linear there. A block whose change is not the sum of
    its submodules' outputs (one that normalizes last, as BERT's) is one part. Raises ValueError for several texts, and
    for blocks of different lengths.
    """
    with torch.no_grad():
        changes, last, norm, found = _stream(model, inputs)
    if len(last.states) != 1:
        raise ValueError(f"the inputs hold {len(last.states)} texts: pass one text")
    at, value, freeze = _linearise_norm(norm, last)
    leaf = value.detach().clone().requires_grad_()
    with edit(model) as e:
        e[at] = leaf if norm else in_last_block(last, leaf)
        logits = model(**inputs)["logits"][0, position, targets]
    slopes = [torch.autograd.grad(one, leaf, retain_graph=True)[0] for one in logits]  # K of [1,L,E]
    with torch.no_grad():
        shares = torch.stack([torch.stack([(freeze(part) * slope).sum() for slope in slopes]) for _, part in changes])
        rest = found["logits"][0, position, targets] - shares.sum(0)
    return [*(name for name, _ in changes), "rest"], torch.cat([shares, rest[None]])


def _stream(model: nn.Module, inputs: dict[str, Any]) -> tuple[Named, BlockOutput, tuple[str, nn.Module] | None, Any]:
    """One run -> (the parts of the last block's output, the last block, the norm that reads it, the model's output)"""
    recorded: dict[str, Named] = {}
    norms: list[tuple[str, nn.Module, Tensor]] = []
    paths = [path for path, module in model.named_modules() if path and not isinstance(module, nn.Dropout)]

    def listen(path: str) -> Any:
        parent = path.rpartition(".")[0]

        def hook(module: nn.Module, args: Any, output: Any) -> None:
            first = output[0] if isinstance(output, list | tuple) and output else output
            if isinstance(first, Tensor):
                recorded.setdefault(parent, []).append((path, first))
            if isinstance(module, NORMS) and args:
                norms.append((path, module, args[0]))

        return hook

    with ExitStack() as hooks:
        for path in paths:
            hooks.callback(model.get_submodule(path).register_forward_hook(listen(path)).remove)
        blocks, out = block_outputs(model, **inputs)
    last = blocks[-1]
    if any(block.before.shape != last.states.shape for block in blocks):
        raise ValueError(f"the blocks of {type(model).__name__} differ in length: their changes cannot be added up")
    if out.get("logits") is None:
        raise ValueError(f"{type(model).__name__} has no logits: create it with a language-model head")
    changes = [("input", blocks[0].before)]
    for block in blocks:
        calls = sum(other.path == block.path for other in blocks)
        changes += split(block, recorded.get(block.path, []) if calls == 1 else [])
    behind = [(path, norm) for path, norm, x in norms if x.data_ptr() == last.states.data_ptr()]
    return changes, last, behind[-1] if behind else None, out


def split(block: BlockOutput, outputs: Named) -> Named:
    """The change of the stream by a block as the outputs of those of its submodules which add up to it, or whole."""
    change = block.states - block.before
    fitting = [(path, states_of(x, path)) for path, x in outputs if x.shape == change.shape]
    near = 1e-4 * change.abs().max()
    for count in (2, 3, 1):
        for some in combinations(fitting[:10], count):
            if (torch.stack([x for _, x in some]).sum(0) - change).abs().max() <= near:
                return list(some)
    return [(block.path, change)]


def _linearise_norm(norm: tuple[str, nn.Module] | None, last: BlockOutput) -> tuple[str, Tensor, Any]:
    """Where the gradient is taken, the value there, and a function that carries a part of the stream to that place,
    with the scale of the norm held fixed."""
    if norm is None:
        return last.path, last.states, lambda part: part
    path, module = norm
    bias = getattr(module, "bias", None)
    eps: float = torch.finfo(last.states.dtype).eps if module.eps is None else module.eps  # type: ignore[assignment]

    def spread(x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True) if isinstance(module, nn.LayerNorm) else x
        return (centred.square().mean(-1, keepdim=True) + eps).sqrt()

    def freeze(part: Tensor) -> Tensor:
        normalized = module(part) if bias is None else module(part) - bias
        return normalized * spread(part) / spread(last.states)

    with torch.no_grad():
        return path, module(last.states), freeze
