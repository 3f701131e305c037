"""Transformations of a right answer, and of its intermediate values: each with the words that describe it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def _shifted(axis: int, by: int) -> Callable[[Tensor], Tensor]:
    return lambda value: value.roll(by, axis)


OUTPUT: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("with its sign flipped", lambda value: -value),
    ("inverted: True where False is right, and False where True is", lambda value: ~value),
    ("subtracted from 1", lambda value: 1 - value),
    ("with its last two axes swapped", lambda value: value.transpose(-1, -2)),
    ("with its first two axes swapped", lambda value: value.transpose(0, 1)),
    ("in reverse order along its last axis", lambda value: value.flip(-1)),
    ("in reverse order along its first axis", lambda value: value.flip(0)),
    ("in reverse order along its second-to-last axis", lambda value: value.flip(-2)),
    ("shifted by one position along its last axis", _shifted(-1, 1)),
    ("shifted back by one position along its last axis", _shifted(-1, -1)),
    ("shifted by one position along its second-to-last axis", _shifted(-2, 1)),
    ("shifted back by one position along its second-to-last axis", _shifted(-2, -1)),
    ("without its last entry along the last axis", lambda value: value[..., :-1]),
    ("without its first entry along the last axis", lambda value: value[..., 1:]),
    ("without its last entry along the first axis", lambda value: value[:-1]),
    ("without its first entry along the first axis", lambda value: value[1:]),
    ("plus 1", lambda value: value + 1),
    ("minus 1", lambda value: value - 1),
    ("squared", lambda value: value.square()),
    ("after a square root", lambda value: value.sqrt()),
    ("as a reciprocal: 1 divided by it", lambda value: 1 / value),
    ("after an exponential", lambda value: value.exp()),
    ("after a logarithm", lambda value: value.log()),
    ("after one more softmax over its last axis", lambda value: value.softmax(-1)),
    ("after a softmax over its second-to-last axis", lambda value: value.softmax(-2)),
    ("after a log-softmax over its last axis", lambda value: value.log_softmax(-1)),
    ("after a cumulative sum along its last axis", lambda value: value.cumsum(-1)),
    ("divided by its sum along the last axis", lambda value: value / value.sum(-1, keepdim=True)),
    ("divided by its length along the last axis", lambda value: value / value.norm(dim=-1, keepdim=True)),
    ("sorted along its last axis", lambda value: value.sort(-1).values),
    ("with all entries above the diagonal set to zero", lambda value: value.tril()),
    ("with all entries below the diagonal set to zero", lambda value: value.triu()),
    ("rounded to whole numbers", lambda value: value.round()),
    ("with its negative entries set to zero", lambda value: value.clamp(min=0)),
    ("averaged over its first axis", lambda value: value.mean(0)),
    ("summed over its first axis", lambda value: value.sum(0)),
    ("averaged over all its entries", lambda value: value.mean()),
    ("summed over all its entries", lambda value: value.sum()),
    ("averaged over its last axis", lambda value: value.mean(-1)),
    ("summed over its last axis", lambda value: value.sum(-1)),
    ("set to zero everywhere", lambda value: torch.zeros_like(value)),
)


def _root(value: Tensor) -> float:
    return value.size(-1) ** 0.5


def _pushed(value: Tensor, axis: int) -> Tensor:
    moved = value.roll(1, axis)
    moved.select(axis, 0).zero_()
    return moved


FLOATS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (  # of what is no mask and no index
    ("after a ReLU", lambda value: value.relu()),
    ("after a GELU", torch.nn.functional.gelu),
    ("after a SiLU", torch.nn.functional.silu),
    ("after a tanh", lambda value: value.tanh()),
    ("after a sigmoid", lambda value: value.sigmoid()),
    ("divided by the square root of the size of its last axis", lambda value: value / _root(value)),
    ("times the square root of the size of its last axis", lambda value: value * _root(value)),
    ("divided by the size of its last axis", lambda value: value / value.size(-1)),
    ("times two", lambda value: value * 2),
    ("divided by two", lambda value: value / 2),
    ("minus its mean over the last axis", lambda value: value - value.mean(-1, keepdim=True)),
    ("divided by its root mean square over the last axis",
     lambda value: value * value.square().mean(-1, keepdim=True).rsqrt()),
    ("normalised to mean zero and variance one over its last axis",
     lambda value: torch.nn.functional.layer_norm(value, value.shape[-1:])),
    ("as an absolute value", lambda value: value.abs()),
)  # fmt: skip
TENSORS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    *FLOATS,
    ("set to one everywhere", lambda value: torch.ones_like(value)),
    ("split into heads without a transpose", lambda value: value.transpose(1, 2).reshape(value.shape)),
    ("shifted by one position along its last axis, with a zero in front", lambda value: _pushed(value, -1)),
    ("shifted by one position along its second-to-last axis, with a zero in front", lambda value: _pushed(value, -2)),
    *OUTPUT,
)  # fmt: skip
NUMBERS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("plus 1", lambda value: value + 1), ("minus 1", lambda value: value - 1),
    ("with its sign flipped", lambda value: -value), ("times two", lambda value: value * 2),
    ("divided by two", lambda value: value // 2 if isinstance(value, int) else value / 2),
    ("after a square root", lambda value: value**0.5), ("squared", lambda value: value**2),
    ("set to zero everywhere", lambda value: value * 0), ("set to one everywhere", lambda value: value * 0 + 1),
)  # fmt: skip
LISTS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("in reverse order along its first axis", lambda value: value[::-1]),
    ("without its last entry along the first axis", lambda value: value[:-1]),
    ("without its first entry along the first axis", lambda value: value[1:]),
    ("sorted along its last axis", lambda value: type(value)(sorted(value))),
    ("with each entry once", lambda value: type(value)(dict.fromkeys(value))),
    ("emptied", lambda value: value[:0]),
)  # fmt: skip


def _of(kinds: type | tuple[type, ...], edit: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def only(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise TypeError("a value of another kind")
        return edit(value)

    return only


def _of_floats(edit: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def only(value: Tensor) -> Tensor:
        if not value.is_floating_point():
            raise TypeError("no floating-point number")
        return edit(value)

    return only


INSIDE: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    *((name, _of(Tensor, _of_floats(edit) if name in dict(FLOATS) else edit)) for name, edit in TENSORS),
    *((name, _of((int, float), edit)) for name, edit in NUMBERS),
    *((name, _of((list, tuple, str), edit)) for name, edit in LISTS),
)
