"""Run a whole model with your own attention, and compare each of its results with the library's.

    with tfkit.substitute(model, scaled_dot_product_attention) as seen:
        logits = model(input_ids).logits      # each layer's attention is computed by your function
    print(seen)                               # how often it ran, how far it was from the library's at most

`yours` is an exercise of the course: a function (q, k, v, mask=None) -> (output, weights), which works for every model
with dot-product attention, or a class `MultiHeadAttention(d_model, n_heads)`, which gets the model's own weights.
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
    """The record of a run: how often `name` ran, in how many places, and its largest difference from the library."""

    name: str
    model: str
    calls: int = 0
    largest: float = 0.0

    def __str__(self) -> str:
        times = "once" if self.calls == 1 else f"{self.calls} times"
        return f"your {self.name} ran {times} in {self.model}; at most {self.largest:.0e} from the library's numbers"

    def hold(self, where: str, what: str, yours: Any, expected: torch.Tensor, allowed: float) -> None:
        """Record the difference between `yours` and `expected`; raises AttentionDiffers if it is larger than
        `allowed`."""
        place = f"{where}: {what} of your {self.name}"
        if not isinstance(yours, torch.Tensor) or yours.shape != expected.shape:
            shape = list(yours.shape) if isinstance(yours, torch.Tensor) else type(yours).__name__
            raise AttentionDiffers(f"{place} should be a tensor {list(expected.shape)}, and is {shape}")
        apart = (yours.detach().double() - expected.double()).abs().nan_to_num(nan=float("inf"))
        self.largest = max(self.largest, apart.max().item() if apart.numel() else 0.0)
        if (apart > allowed).any():
            entry = [int(i) for i in torch.unravel_index(apart.argmax(), apart.shape)]
            at = tuple(entry)
            raise AttentionDiffers(
                f"{place}, entry {entry} of {list(expected.shape)}, is {yours[at].item():.4g}; the library has "
                f"{expected[at].item():.4g} ({int((apart > allowed).sum())} of {apart.numel()} entries differ)"
            )


@contextmanager
def substitute(model: nn.Module, yours: Callable[..., Any]) -> Iterator[Substitution]:
    """Compute the model's attention by `yours` inside the block. The library's own result is compared at each call.

    yours: a function (q [B,H,Q,D], k [B,H,K,D], v [B,H,K,Dv], mask=None) -> (output [B,H,Q,Dv], weights [B,H,Q,K]), or
    a class as the course's MultiHeadAttention. Scales, biases (T5, XLNet) and causality are said in its terms: q, k and
    a mask. Raises AttentionDiffers at the first result that is not the library's, ValueError for a model in training
    mode or one that the class does not fit, TypeError for what is no model or no function, RuntimeError where `yours`
    was not used at all.
    """
    require_model(model)
    if not callable(yours):
        raise TypeError(f"yours is of type {type(yours).__name__}: give a function (q, k, v, mask=None), or a class")
    name, kind = getattr(yours, "__name__", type(yours).__name__), type(model).__name__
    if model.training:
        raise ValueError("substitute compares numbers, and dropout is random: call model.eval() first")
    seen = Substitution(name, kind)
    of_modules = isinstance(yours, type) and issubclass(yours, nn.Module)
    with (_in_modules if of_modules else _in_kernel)(model, yours, seen):
        yield seen
    if not seen.calls:
        raise RuntimeError(f"your {name} was not used: run {kind} inside the block")


@contextmanager
def _in_kernel(model: nn.Module, yours: Callable[..., Any], seen: Substitution) -> Iterator[None]:
    if attention_kernel.attention_override is not None:
        raise RuntimeError("a substitution is under way: leave its block before starting another")
    inside = Recorder(keep=())

    def instead(q, k, v, *, mask, bias, causal, scale, dropout):
        if not inside.path:  # another model, called inside the block
            return attention_kernel.fused_attention(
                q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, dropout=dropout
            )
        seen.calls += 1
        where = inside.path[-1] or type(model).__name__
        output, weights = _pair(yours(*plain_terms(q, k, v, mask, bias, causal, scale)), where, seen.name)
        with torch.no_grad():
            right, right_weights, scores = attend_by_hand(q, k, v, mask=mask, bias=bias, causal=causal, scale=scale)
            allowed = SLACK * torch.finfo(q.dtype).eps * (1 + _largest(scores))
            seen.hold(where, "the weights", weights, right_weights, allowed)
            seen.hold(where, "the output", output, right, allowed * (1 + _largest(v)))
        return output

    with follow_modules(model, inside):
        attention_kernel.attention_override = instead
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
        barred = bias <= torch.finfo(q.dtype).min
        if barred.any():
            mask = ~barred if mask is None else mask & ~barred
        own = torch.eye(q.size(-2), dtype=q.dtype, device=q.device).expand(*q.shape[:-1], -1)
        added = bias.masked_fill(barred, 0.0).transpose(-2, -1)  # [B,H,K,Q]
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
def _in_modules(model: nn.Module, yours: Callable[..., Any], seen: Substitution) -> Iterator[None]:
    places = [(path, module) for path, module in model.named_modules() if type(module) is Attention and _fits(module)]
    if not places:
        raise ValueError(
            f"{seen.name}(d_model, n_heads) fits no attention of {seen.model}: its widths, scale or biases are others; "
            "substitute your scaled_dot_product_attention, which fits all"
        )
    try:
        for path, module in places:
            mine = _with_weights_of(module, yours, seen.name)
            by_hand = _with_weights_of(module, MultiHeadAttention, "MultiHeadAttention")
            module.forward = _forward(path, module, mine, by_hand, seen)  # type: ignore[method-assign]
        yield
    finally:
        for _, module in places:
            module.__dict__.pop("forward", None)


def _fits(module: Attention) -> bool:
    square = module.q_proj.in_features == module.q_proj.out_features
    biased = module.q_proj.bias is not None and module.k_proj.bias is not None
    return square and module.scale is None and biased


def _with_weights_of(module: Attention, yours: Callable[..., Any], name: str) -> nn.Module:
    mine = yours(module.q_proj.in_features, module.n_heads).to(module.q_proj.weight)
    wanted, found = module.state_dict(), mine.state_dict()
    if _shapes(wanted) != _shapes(found):
        differ = ", ".join(sorted(dict(_shapes(wanted).items() ^ _shapes(found).items())))
        raise AttentionDiffers(f"your {name} should have the parameters {', '.join(wanted)}; it differs in {differ}")
    mine.load_state_dict(wanted)
    return mine.eval()


def _shapes(state: dict[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    """Name -> shape."""
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def _forward(
    path: str, module: Attention, mine: nn.Module, by_hand: nn.Module, seen: Substitution
) -> Callable[..., torch.Tensor]:
    """`Attention.forward` computed by the student's module: its output is compared with the library's, its weights with
    those of the computation by hand."""

    def forward(x, memory=None, *, mask=None, bias=None, cache=None):
        if bias is not None or cache is not None:
            what = "bias on the scores" if bias is not None else "cache (unless use_cache=False)"
            raise ValueError(f"{path}: {seen.name} takes no {what}: substitute your scaled_dot_product_attention")
        source = x if memory is None else memory
        seen.calls += 1
        right = Attention.forward(module, x, memory, mask=mask)
        if module.causal:
            rows = attention_kernel.causal_rows(x.size(1), source.size(1), x.device)
            mask = rows if mask is None else mask & rows
        output, weights = _pair(mine(x, source, source, mask), path, seen.name)
        allowed = SLACK * torch.finfo(x.dtype).eps * (1 + _largest(right))
        seen.hold(path, "the output", output, right.detach(), allowed)
        seen.hold(path, "the weights", weights, by_hand(x, source, source, mask)[1].detach(), allowed)
        return output

    return forward
