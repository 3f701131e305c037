"""Run a whole model with your own attention, and compare each of its results with the library's.

    with tfkit.substitute(model, scaled_dot_product_attention) as record:
        logits = model(input_ids).logits      # each layer's attention is computed by your function
    print(record)                             # how often it ran, how far it was from the library's at most

The attention is an exercise of the course: a function (q, k, v, mask=None) -> (output, weights), which works for every
model with dot-product attention, or a class `MultiHeadAttention(d_model, n_heads)`, which gets the model's own weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .nn import Attention, MultiHeadAttention, attend_by_hand, attention_kernel
from .tracing import Recorder, follow_modules, require_model

SLACK = 64  # rounding steps by which two correct sums may differ, per unit of the largest score


class AttentionDiffers(ValueError):
    """A result differs from the library's; the message says in which module, at which entry, and by how much."""


@dataclass
class Substitution:
    """The record of a run: how often `name` ran, in which model, and its largest difference from the library."""

    name: str
    model: str
    calls: int = 0
    largest: float = 0.0
    strict: bool = True

    def __str__(self) -> str:
        times = "once" if self.calls == 1 else f"{self.calls} times"
        return f"your {self.name} ran {times} in {self.model}; at most {self.largest:.0e} from the library's numbers"

    def compare(self, where: str, what: str, result: Any, expected: torch.Tensor, allowed: float) -> None:
        """Record the difference between `result` and `expected`. Raises AttentionDiffers for another shape and, in a
        strict substitution, for a difference larger than `allowed`."""
        subject = f"{where}: {what} of your {self.name}"
        if not isinstance(result, torch.Tensor) or result.shape != expected.shape:
            shape = list(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
            raise AttentionDiffers(f"{subject} should be a tensor {list(expected.shape)}, but is {shape}")
        difference = (result.detach().double() - expected.double()).abs().nan_to_num(nan=float("inf"))
        self.largest = max(self.largest, difference.max().item() if difference.numel() else 0.0)
        if self.strict and (difference > allowed).any():
            entry = [int(i) for i in torch.unravel_index(difference.argmax(), difference.shape)]
            at = tuple(entry)
            count = f"{int((difference > allowed).sum())} of {difference.numel()} entries differ"
            raise AttentionDiffers(
                f"{subject}, entry {entry} of {list(expected.shape)}, is {result[at].item():.4g}; the library has "
                f"{expected[at].item():.4g} ({count})"
            )


@contextmanager
def substitute(model: nn.Module, attention: Callable[..., Any], *, strict: bool = True) -> Iterator[Substitution]:
    """Compute the model's attention by `attention` inside the block, and compare each result with the library's own.

    attention: a function (q [B,H,Q,D], k [B,H,K,D], v [B,H,K,Dv], mask=None) -> (output [B,H,Q,Dv], weights [B,H,Q,K]),
    or a class like the course's MultiHeadAttention. Scales, biases (T5, XLNet) and causality are expressed by q, k and
    a mask. Raises AttentionDiffers at the first result that differs from the library's, ValueError for a model in
    training mode or one that the class does not fit, TypeError for an object that is not a model or not a function,
    RuntimeError if `attention` was never used. strict: False goes on with what differs, to see what a mistake does to a
    whole model; the record still has the largest difference, and a result of another shape is still an error.
    """
    require_model(model)
    if not callable(attention):
        raise TypeError(
            f"attention is of type {type(attention).__name__}: give a function (q, k, v, mask=None), or a class"
        )
    name, kind = getattr(attention, "__name__", type(attention).__name__), type(model).__name__
    if model.training:
        raise ValueError("substitute compares numbers, and dropout is random: call model.eval() first")
    record = Substitution(name, kind, strict=strict)
    of_modules = isinstance(attention, type) and issubclass(attention, nn.Module)
    with (_in_modules if of_modules else _in_kernel)(model, attention, record):
        yield record
    if not record.calls:
        raise RuntimeError(f"your {name} was not used: run {kind} inside the block")


@contextmanager
def _in_kernel(model: nn.Module, attention: Callable[..., Any], record: Substitution) -> Iterator[None]:
    if attention_kernel.attention_override is not None:
        raise RuntimeError("a substitution is under way: leave its block before starting another")
    inside = Recorder(keep=())

    def attend_with_substitute(q, k, v, *, mask, bias, causal, scale, dropout):
        if not inside.path:  # another model, called inside the block
            return attention_kernel.fused_attention(
                q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout
            )
        record.calls += 1
        where = inside.path[-1] or type(model).__name__
        output, weights = _pair(attention(*plain_terms(q, k, v, mask, bias, causal, scale)), where, record.name)
        with torch.no_grad():
            right, right_weights, scores = attend_by_hand(q, k, v, mask=mask, bias=bias, causal=causal, scale=scale)
            allowed = SLACK * torch.finfo(q.dtype).eps * (1 + _largest(scores))
            record.compare(where, "the weights", weights, right_weights, allowed)
            record.compare(where, "the output", output, right, allowed * (1 + _largest(v)))
        return output

    with follow_modules(model, inside):
        attention_kernel.attention_override = attend_with_substitute
        try:
            yield
        finally:
            attention_kernel.attention_override = None


def plain_terms(q, k, v, mask, bias, causal, scale):
    """Expresses a model's scale, bias and causality for a function that takes q, k, v and a mask and divides by
    sqrt(D).

    A scale becomes a factor on q. A bias becomes part of the dot product: each query is extended by a unit vector, and
    each key by its biases for all the queries.
    -> q [B,H,Q,D'], k [B,H,K,D'], v, mask bool or None; D' is D + Q where there is a bias
    """
    q = q * (q.size(-1) ** -0.5 if scale is None else scale)
    if causal:
        rows = attention_kernel.causal_rows(q.size(-2), k.size(-2), q.device)
        mask = rows if mask is None else mask & rows
    if bias is not None:
        bias = bias.to(q.dtype).expand(*q.shape[:-1], k.size(-2))
        hidden = bias <= torch.finfo(q.dtype).min
        if hidden.any():
            mask = ~hidden if mask is None else mask & ~hidden
        own = torch.eye(q.size(-2), dtype=q.dtype, device=q.device).expand(*q.shape[:-1], -1)
        added = bias.masked_fill(hidden, 0.0).transpose(-2, -1)  # [B,H,K,Q]
        q, k = torch.cat([q, own], -1), torch.cat([k.expand(*q.shape[:-2], *k.shape[-2:]), added], -1)
    return q * q.size(-1) ** 0.5, k, v, mask


def _pair(found: Any, where: str, name: str) -> tuple[Any, Any]:
    if not isinstance(found, tuple) or len(found) != 2:
        raise AttentionDiffers(f"{where}: your {name} should return (output, weights), not a {type(found).__name__}")
    return found


def _largest(x: torch.Tensor) -> float:
    finite = x[x.isfinite()]
    return finite.abs().max().item() if finite.numel() else 0.0


@contextmanager
def _in_modules(model: nn.Module, attention: Callable[..., Any], record: Substitution) -> Iterator[None]:
    modules = [(path, module) for path, module in model.named_modules() if type(module) is Attention and _fits(module)]
    if not modules:
        raise ValueError(
            f"{record.name}(d_model, n_heads) fits no attention of {record.model}, which has other widths, scales or "
            "biases: substitute your scaled_dot_product_attention, which fits all"
        )
    try:
        for path, module in modules:
            substitute_module = _with_weights_of(module, attention, record.name)
            by_hand = _with_weights_of(module, MultiHeadAttention, "MultiHeadAttention")
            module.forward = _forward(path, module, substitute_module, by_hand, record)  # type: ignore[method-assign]
        yield
    finally:
        for _, module in modules:
            module.__dict__.pop("forward", None)


def _fits(module: Attention) -> bool:
    square = module.q_proj.in_features == module.q_proj.out_features
    biased = module.q_proj.bias is not None and module.k_proj.bias is not None
    return square and module.scale is None and biased


def _with_weights_of(module: Attention, attention: Callable[..., Any], name: str) -> nn.Module:
    substitute_module = attention(module.q_proj.in_features, module.n_heads).to(module.q_proj.weight)
    wanted, found = module.state_dict(), substitute_module.state_dict()
    if _shapes(wanted) != _shapes(found):
        differ = ", ".join(sorted(dict(_shapes(wanted).items() ^ _shapes(found).items())))
        raise AttentionDiffers(f"your {name} should have the parameters {', '.join(wanted)}; it differs in {differ}")
    substitute_module.load_state_dict(wanted)
    return substitute_module.eval()


def _shapes(state: dict[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    """Name -> shape."""
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def _forward(
    path: str, module: Attention, substitute_module: nn.Module, by_hand: nn.Module, record: Substitution
) -> Callable[..., torch.Tensor]:
    """`Attention.forward` computed by the student's module: its output is compared with the library's, its weights with
    those of the computation by hand."""

    def forward(x, memory=None, *, mask=None, bias=None, cache=None):
        if bias is not None or cache is not None:
            what = "bias on the scores" if bias is not None else "cache (unless use_cache=False)"
            raise ValueError(f"{path}: {record.name} takes no {what}: substitute your scaled_dot_product_attention")
        source = x if memory is None else memory
        record.calls += 1
        right = Attention.forward(module, x, memory, mask=mask)
        if module.causal:
            rows = attention_kernel.causal_rows(x.size(1), source.size(1), x.device)
            mask = rows if mask is None else mask & rows
        output, weights = _pair(substitute_module(x, source, source, mask), path, record.name)
        allowed = SLACK * torch.finfo(x.dtype).eps * (1 + _largest(right))
        record.compare(path, "the output", output, right.detach(), allowed)
        record.compare(path, "the weights", weights, by_hand(x, source, source, mask)[1].detach(), allowed)
        return output

    return forward
