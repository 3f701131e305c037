"""Finds attentions and feed-forward layers among operations, by their computation and not by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tfkit_lab.show.operations import Code, Operation, Operations

_PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}  # and which of the inputs is on the left
_FUSED = "_scaled_dot_product"
_BETWEEN = {
    "_softmax", "add", "sub", "rsub", "mul", "div", "neg", "exp", "pow", "sqrt", "tanh", "clamp", "clamp_min", "where",
    "masked_fill", "maximum", "nan_to_num", "native_dropout", "dropout", "bernoulli", "index_put", "copy", "fill",
    "_safe_softmax", "_log_softmax", "sigmoid", "relu", "gelu", "silu", "erf", "hardswish", "leaky_relu", "elu", "mish",
}  # fmt: skip
_SHARES = {"_softmax", "_safe_softmax", "exp", "_log_softmax"}
_NORMS = {"cat", "stack", "native_layer_norm", "rsqrt", "mean"}
_FAR = -1e4  # scores below this belong to a mask
Link = tuple[str, Code, Tensor, str]  # kind, code, value [H,Q,K], a note


@dataclass
class FoundAttention:
    """q [H,Q,D], k [H,K,D], v [H,K,Dv], output [H,Q,Dv]; chain: the operations between q kᵀ and the weights; operation:
    the product with v, or the fused operation; projection: the linear layer that made q, or None if q was given."""

    operation: Operation
    q: Tensor
    k: Tensor
    v: Tensor
    output: Tensor
    chain: list[Link]
    projection: Operation | None


@dataclass
class FoundFeedForward:
    """Two linear layers with an activation between them: input [L,E], hidden [L,F], output [L,E]."""

    operation: Operation
    input: Tensor
    hidden: Tensor
    output: Tensor


def attentions(operations: Operations) -> Iterator[FoundAttention]:
    """Every attention, in order."""
    for op in operations.all:
        if op.name.startswith(_FUSED) and op.value.dim() == 4:
            yield _fused(op)
        elif op.name in _PRODUCTS:
            chain = _chain(op, _left(op), lambda found: bool({step.name for step in found} & _SHARES))
            if chain:
                yield _open(op, chain)


def feed_forwards(operations: Operations) -> Iterator[FoundFeedForward]:
    """Every linear layer after an activation after a linear layer."""
    for op in operations.all:
        if op.name in ("mm", "addmm"):
            plain = lambda found: not {step.name for step in found} & (_SHARES | {"copy", "index_put"})
            chain = _chain(op, _left(op), plain, _BETWEEN - {"add", "div", "sub", "native_dropout"})
            if chain and len(chain) > 1:
                yield FoundFeedForward(op, _flat(read_by(chain[0])), _flat(read_by(op)), _flat(op.value))


def _left(op: Operation) -> Operation | None:
    return op.parent(_PRODUCTS[op.name])


def _flat(value: Tensor) -> Tensor:
    return value.reshape(-1, value.size(-1))


def _chain(
    op: Operation, start: Operation | None, wanted: Callable[[list[Operation]], bool], between: set[str] | None = None
) -> list[Operation] | None:
    """The operations from an earlier product to `start`, the input of `op`: product first. None if there is no such
    path."""
    known: set[int] = set()

    def search(step: Operation | None, way: list[Operation]) -> list[Operation] | None:
        if step is None or id(step) in known:
            return None
        known.add(id(step))
        if step.name in _PRODUCTS:
            found = [step, *way]
            return found if wanted(found) else None
        if step.name not in (between or _BETWEEN):
            return None
        tries = (search(step.parent(place), [step, *way]) for place in range(len(step.parents)))
        return next((found for found in tries if found), None)

    return search(start, [])


def linear_before(op: Operation | None) -> Operation | None:
    """The nearest product from which a value comes through additions, transpositions and scalings; None without one."""
    for _ in range(12):
        if op is None or op.name in _PRODUCTS:
            break
        op = op.parent() if op.name in _BETWEEN | _NORMS else None
    return op


def read_by(op: Operation) -> Tensor:
    """The input of a product with weights, or the first input of another operation: [...,E]"""
    return op.inputs[_PRODUCTS.get(op.name, 0)]


def _fused(op: Operation) -> FoundAttention:
    """The stages of a fused attention, recomputed one by one."""
    q, k, v = (op.inputs[index][0].float() for index in range(3))
    scale = op.arguments.get("scale") or q.size(-1) ** -0.5
    given = op.arguments.get("attn_mask", op.arguments.get("attn_bias"))
    groups = len(q) // len(k)
    k, v = k.repeat_interleave(groups, 0), v.repeat_interleave(groups, 0)
    scores = q @ k.transpose(-2, -1) * scale
    masked = scores if given is None else scores + given[0].float()
    if op.arguments.get("is_causal"):
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        masked = masked.masked_fill(hidden, float("-inf"))
    note = "One fused operation; its stages are computed again one by one."
    chain: list[Link] = [("scores", replace(op.code, name=""), scores, note)]
    if masked is not scores:
        chain.append(("mask", Code(), masked, note))
    chain.append(("softmax", Code(), masked.softmax(-1), note))
    return FoundAttention(op, q, k, v, op.value[0], chain, linear_before(op.parent(0)))


def _open(op: Operation, chain: list[Operation]) -> FoundAttention:
    """The stages of an attention computed step by step."""
    product = chain[0]
    left = _PRODUCTS[product.name]
    q, k = (_heads(product.inputs[left + side]) for side in (0, 1))
    v = _heads(op.inputs[_PRODUCTS[op.name] + 1])
    projection = linear_before(product.parent(left))
    return FoundAttention(op, q, k.transpose(-2, -1), v, _heads(op.value), _links(chain), projection)


def _heads(value: Tensor) -> Tensor:
    return value.reshape(-1, *value.shape[-2:])


def _links(chain: list[Operation]) -> list[Link]:
    """The operations between q kᵀ and the weights; scaling belongs to the scores, operations without effect are left
    out."""
    links: list[Link] = []
    for op in chain:
        value = _heads(op.value)
        before = links[-1] if links else None
        if before is not None and torch.equal(value, before[2]):
            continue  # dropout, outside training
        kind = _kind(op, before)
        if kind == "step" and before is not None and before[0] == "scores":
            kind = "scores"
            links.pop()
        links.append((kind, op.code, value, ""))
    return links


def _kind(op: Operation, before: Link | None) -> str:
    """The kind of an operation, by its name and its effect on the values."""
    if before is None:
        return "scores"
    if op.name in _SHARES:
        return "softmax"
    hides = bool((op.value <= _FAR).any()) and not bool((before[2] <= _FAR).any())
    return "mask" if hides or op.name in ("masked_fill", "where", "index_put", "copy") else "step"
