"""Which part of a model causes a prediction: patching, knock-out and attribution, for any architecture.

`score` is always a function of the model's output that returns one number (a tensor without dimensions), such as

    score = lambda out: out.logits[0, -1, paris] - out.logits[0, -1, rome]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import torch
from torch import nn

from ..tracing import trace
from .edits import edit
from .layers import block_outputs, in_last_block

Score = Callable[[Any], torch.Tensor]


def attention_heads(model: nn.Module, **inputs: Any) -> dict[str, torch.Tensor]:
    """The output of each head of each attention, before the output projection: path -> [B,H,Q,D], in the order in which
    they run.

    Raises ValueError for an attention that runs more than once or in pieces in one pass (Longformer, BigBird), whose
    heads cannot be exchanged between two texts one by one.
    """
    with torch.no_grad(), trace(model, ["*.per_head"]) as t:
        model(**inputs)
    if several := [name for name in t if len(t.all(name)) > 1]:
        raise ValueError(
            f"{several[0]} is computed in {len(t.all(several[0]))} pieces: there is no single value for it"
        )
    return {name.removesuffix(".per_head"): t[name] for name in t}


@torch.no_grad()
def patch_heads(
    model: nn.Module, clean: Mapping[str, Any], corrupted: Mapping[str, Any], score: Score
) -> tuple[list[str], torch.Tensor]:
    """Activation patching, head by head (Meng et al. 2022; Wang et al. 2023).

    The model reads the corrupted inputs while one head at a time gets its values from the clean inputs, which have the
    same shapes. -> (the attentions' paths, [attentions, heads]): the share of the score difference that each head
    restores, 0 for none, 1 for all of it. Raises ValueError if the two inputs have equal scores or differ in length.
    """
    values = attention_heads(model, **clean)
    for name, other in attention_heads(model, **corrupted).items():
        if other.shape != values[name].shape:
            raise ValueError(
                f"{name}: {list(values[name].shape)} on the clean inputs, {list(other.shape)} on the others"
            )
    best, worst = float(score(model(**clean))), float(score(model(**corrupted)))
    if best == worst:
        raise ValueError(f"both inputs score {best:.4g}: patching cannot restore a difference that is not there")
    heads = max(value.size(1) for value in values.values())
    shares = torch.full((len(values), heads), float("nan"))
    for row, (path, value) in enumerate(values.items()):
        for head in range(value.size(1)):
            with edit(model) as e:
                e[f"{path}.per_head"] = lambda old, head=head, value=value: _with_head(old, value, head)
                shares[row, head] = (float(score(model(**corrupted))) - worst) / (best - worst)
    return list(values), shares


def _with_head(old: torch.Tensor, value: torch.Tensor, head: int) -> torch.Tensor:
    new = old.clone()
    new[:, head] = value[:, head]
    return new


@torch.no_grad()
def knock_out(model: nn.Module, score: Score, query: int = -1, **inputs: Any) -> tuple[list[str], torch.Tensor]:
    """Attention knock-out (Geva et al. 2023): how much the score falls if one query may not attend to one key, in one
    attention at a time.

    -> (the attentions' paths, [attentions, keys]); NaN if there is no such key. Keys are counted from the first key of
    the attention; those of a cross-attention are in the source.
    """
    with trace(model, ["*.scores"]) as t:
        before = float(score(model(**inputs)))
    if several := [name for name in t if len(t.all(name)) > 1]:
        raise ValueError(
            f"{several[0]} is computed in {len(t.all(several[0]))} pieces: its keys cannot be cut one by one"
        )
    keys = {name.removesuffix(".scores"): t[name].size(-1) for name in t}
    falls = torch.full((len(keys), max(keys.values())), float("nan"))
    for row, (path, count) in enumerate(keys.items()):
        for key in range(count):
            with edit(model) as e:
                e.block(path, queries=[query], keys=[key])
                falls[row, key] = before - float(score(model(**inputs)))
    return list(keys), falls


def residual_contributions(model: nn.Module, score: Score, **inputs: Any) -> tuple[list[str], torch.Tensor]:
    """What each block adds to the score, to first order: its change of the residual stream times the gradient of the
    score at the last block's output (direct logit attribution, linearised at the final norm).

    -> ("input" for the input of the first block, then the blocks' paths; [blocks + 1, B, L]). Raises ValueError for
    blocks of different lengths (Funnel), whose changes cannot be added up.
    """
    with torch.no_grad():
        blocks, _ = block_outputs(model, **inputs)
    last = blocks[-1]
    if any(block.before.shape != last.states.shape for block in blocks):
        raise ValueError(f"the blocks of {type(model).__name__} differ in length: their changes cannot be added up")
    leaf = last.states.clone().requires_grad_()
    with edit(model) as e:
        e[last.path] = in_last_block(last, leaf)
        (slope,) = torch.autograd.grad(score(model(**inputs)), leaf)
    changes = [blocks[0].before, *(block.states - block.before for block in blocks)]
    return ["input", *(block.path for block in blocks)], (torch.stack(changes) * slope).sum(-1)


def input_attribution(
    model: nn.Module, score: Score, input_ids: torch.Tensor, steps: int = 32, **inputs: Any
) -> torch.Tensor:
    """Integrated gradients (Sundararajan et al. 2017) from a baseline of zero word vectors to the actual ones -> [B,L].

    The attributions add up to the difference of the two scores, up to the error of the midpoint rule with `steps`
    points. Raises ValueError for a model without a table of word vectors for `input_ids`.
    """
    if steps < 1:
        raise ValueError(f"steps={steps}: must be at least 1 point of integration")
    path, words = _word_vectors(model, input_ids, inputs)
    total = torch.zeros_like(words)
    for step in range(steps):
        leaf = (words * (step + 0.5) / steps).requires_grad_()
        with edit(model) as e:
            e[path] = [leaf] + [None] * 8  # in an encoder-decoder the decoder reads the same table afterwards
            total += torch.autograd.grad(score(model(input_ids=input_ids, **inputs)), leaf)[0]
    return (total / steps * words).sum(-1)


@torch.no_grad()
def _word_vectors(model: nn.Module, input_ids: torch.Tensor, inputs: dict[str, Any]) -> tuple[str, torch.Tensor]:
    """The first module whose output is the embedding [B,L,E] of the ids -> (its path, the vectors)"""
    found: list[tuple[str, torch.Tensor]] = []

    def look(path: str) -> Callable[..., None]:
        def hook(_module: nn.Module, args: Any, output: Any) -> None:
            is_vectors = isinstance(output, torch.Tensor) and output.is_floating_point() and output.dim() == 3
            if is_vectors and args and isinstance(args[0], torch.Tensor) and torch.equal(args[0], input_ids):
                found.append((path, output))

        return hook

    with ExitStack() as hooks:
        for path, module in model.named_modules():
            hooks.callback(module.register_forward_hook(look(path)).remove)
        model(input_ids=input_ids, **inputs)
    if not found:
        raise ValueError(f"{type(model).__name__} has no table of word vectors that reads input_ids as they are")
    return found[0]


@torch.no_grad()
def ablate_heads(
    model: nn.Module, score: Score, replacement: float = 0.0, **inputs: Any
) -> tuple[list[str], torch.Tensor]:
    """How much the score falls if the output of one head is replaced by `replacement`, one head at a time.

    -> (the attentions' paths, [attentions, heads]); NaN where an attention has fewer heads. Positive: the head helps.
    """
    values = attention_heads(model, **inputs)
    before = float(score(model(**inputs)))
    falls = torch.full((len(values), max(value.size(1) for value in values.values())), float("nan"))
    for row, (path, value) in enumerate(values.items()):
        for head in range(value.size(1)):
            with edit(model) as e:
                e.ablate(path, heads=[head], replacement=replacement)
                falls[row, head] = before - float(score(model(**inputs)))
    return list(values), falls
