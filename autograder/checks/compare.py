"""Compares a student's results with the reference's; tolerances depend on the dtype and the reduction length."""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.sandbox.inside.wire import MappingCopy

FACTOR = 4.0  # above the spread measured between equivalent implementations of the references
NUMBERS = re.compile(
    r"0x[0-9a-fA-F]+|[\[(]*-?\d[\d.,\s\-+e\[\]()]*"
)  # an address, a number, or several such as a shape
ROUNDING = 128  # float32 eps: how far an answer may be off that is right in float64
LOST_DIGITS = 1000  # a part may cancel from numbers so many times as large: `1 - 0.999` does
MISSING_RETURN = " (is a `return` missing?)"
FLOOR = 1e-9  # relative: torch's own losses have an epsilon of 1e-12, while float32 is off by 6e-8


class LazySpread:
    """A number that is measured on first use, since only answers that are not exactly right need it."""

    def __init__(self, measure: Callable[[], float]) -> None:
        self._measure: Callable[[], float] | None = measure
        self._value = 0.0

    def __float__(self) -> float:
        measure = self._measure
        if measure is not None:
            self._value, self._measure = measure(), None
        return self._value


@dataclass(frozen=True)
class Tolerance:
    """How far two right answers may differ: a rounding error grows with the square root of the summed terms' number."""

    length: int = 16  # terms in the longest reduction; for a stack of layers the product of several
    amplify: float = 1.0  # the largest score: exp turns an absolute error of a score into a relative one
    eps: float = 0.0  # of a coarser dtype in which a part is computed
    scale: float = 0.0  # magnitude of the summed numbers, where they may cancel
    # how far one rounding error in each input moves the reference; large for an ill-conditioned problem
    spread: float | LazySpread = 0.0
    eps_of_rounding: float = 0.0  # how far an answer may be off that is right in float64, and else 0
    given: float = 0.0  # with `eps_of_rounding`: how large the numbers of the input are

    def bound(self, expected: Tensor) -> float:
        """The largest absolute difference allowed, for the whole tensor."""
        return self.least(expected) + self.beyond_least(expected)

    def beyond_least(self, expected: Tensor) -> float:
        """What the measured spread and rounding allow beyond `least`."""
        return max(FACTOR * float(self.spread), self._rounding(expected))

    def _rounding(self, expected: Tensor) -> float:
        """The room of one part of an answer, from the size of its own numbers: another part's may be far larger."""
        if not self.eps_of_rounding:
            return 0.0
        largest = _largest(expected)
        cancelled = min(1.0, self.given, LOST_DIGITS * largest) if largest else min(1.0, self.given)
        return self.eps_of_rounding * max(self.scale, largest, cancelled)

    def least(self, expected: Tensor) -> float:
        """The allowed difference without the measured spread: `bound` for well-conditioned inputs."""
        largest = max(self.scale, _largest(expected))
        eps = max(self.eps, torch.finfo(expected.dtype).eps)
        relative = FACTOR * eps * math.sqrt(self.length) * max(1.0, self.amplify)
        return max(relative, FLOOR) * largest + torch.finfo(torch.float32).tiny

    def for_rounding(self, given: float, times: float = 1.0) -> Tolerance:
        """The tolerance in float32 for what is right in float64; `given`: how large the numbers of the input are.

        A way to write a formula may round where another one doesn't: `1 - 0.999` has lost three digits in float32.
        """
        return replace(self, eps_of_rounding=times * ROUNDING * torch.finfo(torch.float32).eps, given=given)


def _largest(value: Tensor) -> float:
    """The largest magnitude of its finite entries; 0 if it has none."""
    if not value.numel():
        return 0.0
    largest = value.abs().max().item()
    if math.isfinite(largest):  # nearly always, and much cheaper than to choose the entries
        return largest
    finite = value[torch.isfinite(value)]
    return finite.abs().max().item() if finite.numel() else 0.0


@dataclass(frozen=True)
class RaisedError:
    """The student's code raised instead of answering."""

    kind: str
    message: str

    @property
    def type_name(self) -> str:
        """The exception's name, which distinguishes two failures."""
        name = self.message.removeprefix("GraderError: ").split(":")[0].strip()
        return name if self.kind == "exception" else self.kind

    @property
    def outline(self) -> str:
        """The message without its numbers, which are those of one question: two mistakes seldom have one outline."""
        return NUMBERS.sub(" # ", self.message).strip() if self.kind == "exception" else self.kind


@dataclass(frozen=True)
class WrongDevice:
    """A tensor of an answer that is on another device than its inputs."""

    device: str
    expected: str


@dataclass(frozen=True)
class Difference:
    """Where two answers differ, in words that reveal only the size of the difference."""

    message: str
    where: tuple[int, ...] | None = None
    deviation: float | None = None
    shape: tuple[int, ...] | None = None  # expected shape of the tensor that differs
    first: tuple[int, ...] | None = None  # the first entry that differs; `where` is the one that differs most


PLAIN = Tolerance()
FORM = Tolerance(length=0)  # compares only kinds, shapes and types, but no numbers


def compare(expected: Any, actual: Any, tolerance: Tolerance = PLAIN, name: str = "the result") -> Difference | None:
    """The first difference between two trees of tensors and plain values, or None."""
    if isinstance(actual, RaisedError):
        return _compare_raised(expected, actual)
    if isinstance(actual, WrongDevice):
        return Difference(f"{name} is on {actual.device} where {actual.expected} is expected")
    if isinstance(expected, RaisedError):
        return Difference(f"{name} should have been an error")
    if isinstance(expected, Tensor):
        return _compare_tensor(expected, actual, tolerance, name)
    if isinstance(expected, Mapping):
        return _compare_dict(expected, actual, tolerance, name)
    if isinstance(expected, (list, tuple)):
        return _compare_sequence(expected, actual, tolerance, name)
    return _compare_plain(expected, actual, tolerance, name)


def agree(expected: Any, actual: Any, tolerance: Tolerance = PLAIN) -> bool:
    """Whether `compare` finds no difference. Where there is one it is not described, which takes most of the time: a
    search for an explanation compares thousands of answers."""
    if type(expected) is Tensor and type(actual) is Tensor and tolerance is not FORM:
        return _is_of_form(expected, actual) and not _any_differ(expected.detach(), actual.detach(), tolerance)
    if type(expected) is type(actual) is tuple:
        return len(expected) == len(actual) and all(map(partial(agree, tolerance=tolerance), expected, actual))
    if type(expected) is type(actual) is dict:
        return set(expected) == set(actual) and all(agree(one, actual[key], tolerance) for key, one in expected.items())
    return compare(expected, actual, tolerance) is None


def values_agree(expected: Any, actual: Any, tolerance: Tolerance = PLAIN) -> bool:
    """Whether `compare_values` finds no difference."""
    return agree(expected, loosen_form(expected, actual), tolerance)


def _is_of_form(expected: Tensor, actual: Tensor) -> bool:
    one, other = expected, actual
    return one.shape == other.shape and one.dtype == other.dtype and one.device.type == other.device.type


def _any_differ(expected: Tensor, actual: Tensor, tolerance: Tolerance) -> bool:
    """Whether any entry of two tensors of one form differs, as `_wrong` has it."""
    if torch.equal(expected, actual):  # most right answers are bitwise equal
        return False
    if not expected.is_floating_point():
        return True
    most = (expected.double() - actual.double()).abs().max().item()
    if math.isnan(most):  # NaN somewhere, or two infinities
        return bool(_wrong(expected, actual, tolerance)[0].any())
    least = tolerance.least(expected)
    # a bound that is NaN allows nothing
    return not most <= least and not most <= least + _room(expected, tolerance)


def _compare_raised(expected: Any, actual: RaisedError) -> Difference | None:
    if isinstance(expected, RaisedError) and expected.type_name == actual.type_name:
        return None
    return Difference(f"your code stopped: {actual.message}")


def compare_form(expected: Any, actual: Any) -> Difference | None:
    """The first difference in kind, shape or type; None if the code raised, which is not a difference in form."""
    return None if isinstance(actual, RaisedError) else compare(expected, actual, FORM)


def compare_values(expected: Any, actual: Any, tolerance: Tolerance = PLAIN) -> Difference | None:
    """The first difference in values, whatever the shape or type of the numbers."""
    return compare(expected, loosen_form(expected, actual), tolerance)


def loosen_form(expected: Any, actual: Any) -> Any:
    """`actual` in the form of `expected` where that changes no number: axes of size 1, types, tuples for lists."""
    if isinstance(actual, (RaisedError, WrongDevice)):
        return actual
    if isinstance(expected, Tensor):
        return _loosen_tensor(expected, actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping) and set(expected) == set(actual):
        return {key: loosen_form(value, actual[key]) for key, value in expected.items()}
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)) and len(expected) == len(actual):
        return type(expected)(loosen_form(one, other) for one, other in zip(expected, actual, strict=True))
    if isinstance(expected, (bool, int, float)):
        number = actual.item() if isinstance(actual, Tensor) and actual.numel() == 1 else actual
        same = isinstance(number, (bool, int, float)) and (isinstance(expected, float) or number == expected)
        return expected if same and not isinstance(expected, float) else number if same else actual
    return actual


def _loosen_tensor(expected: Tensor, actual: Any) -> Any:
    if isinstance(actual, (bool, int, float)) and expected.numel() == 1 and abs(actual) < 2**63:
        actual = torch.tensor(actual)
    if not isinstance(actual, Tensor):
        return actual
    if actual.shape != expected.shape and _real_axes(actual) == _real_axes(expected):
        actual = actual.reshape(expected.shape)
    if actual.dtype == expected.dtype or actual.is_complex():
        return actual
    cast = actual.to(expected.dtype)
    holds_any = expected.is_floating_point() or expected.is_complex()
    return cast if holds_any or torch.equal(cast.double(), actual.double()) else actual


def _real_axes(value: Tensor) -> list[int]:
    return [size for size in value.shape if size != 1]


def _compare_dict(expected: Mapping[Any, Any], actual: Any, tolerance: Tolerance, name: str) -> Difference | None:
    if not isinstance(actual, dict):
        return Difference(f"{name} is {_kind(actual)} where a dict is expected")
    if set(expected) != set(actual):
        lacks = sorted(map(str, set(expected) - set(actual)))
        extra = sorted(map(str, set(actual) - set(expected)))
        parts = [f"lacks {', '.join(lacks)}"] * bool(lacks) + [f"has an extra {', '.join(extra)}"] * bool(extra)
        return Difference(f"{name} {' and '.join(parts)}")
    for key in expected:
        if found := compare(expected[key], actual[key], tolerance, f"{key}"):
            return found
    return None


def _compare_sequence(expected: Any, actual: Any, tolerance: Tolerance, name: str) -> Difference | None:
    if tolerance is FORM and isinstance(expected, list) and isinstance(actual, list) and len(expected) != len(actual):
        return None  # a different length counts as different values
    wanted = tuple if isinstance(expected, tuple) else list
    if not isinstance(actual, wanted):  # a list where a list is expected; pairs are tuples
        kind = {tuple: "a tuple", list: "a list"}[wanted]
        return Difference(f"{name} is {_kind(actual)} where {kind} of {len(expected)} values is expected")
    if len(expected) != len(actual):
        return Difference(f"{name} holds {len(actual)} values where {len(expected)} are expected")
    for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
        if found := compare(one, other, tolerance, f"{name}[{index}]"):
            return found
    return None


def _compare_plain(expected: Any, actual: Any, tolerance: Tolerance, name: str) -> Difference | None:
    if isinstance(expected, float) and isinstance(actual, (int, float)) and not isinstance(actual, bool):
        try:
            return _compare_tensor(torch.tensor(expected), torch.tensor(float(actual)), tolerance, name)
        except OverflowError:
            return Difference(f"{name} is a whole number too large for any float")
    if type(expected) is not type(actual):
        wanted = "None" if expected is None else _kind(expected)
        return Difference(f"{name} is {_kind(actual)} where {wanted} is expected")
    return None if expected == actual or tolerance is FORM else Difference(f"{name} differs")


def _compare_tensor(expected: Tensor, actual: Any, tolerance: Tolerance, name: str) -> Difference | None:
    shape = tuple(expected.shape)
    if not isinstance(actual, Tensor):
        return Difference(f"{name} is {_kind(actual)} where a tensor of shape {list(shape)} is expected", shape=shape)
    if shape != tuple(actual.shape):
        return Difference(f"{name} has shape {list(actual.shape)} where {list(shape)} is expected", shape=shape)
    if expected.dtype != actual.dtype:
        return Difference(f"{name} is {_dtype(actual)} where {_dtype(expected)} is expected", shape=shape)
    if expected.device.type != actual.device.type:
        return Difference(f"{name} is on {actual.device.type} where {expected.device.type} is expected", shape=shape)
    return None if tolerance is FORM else _compare_entries(expected.detach(), actual.detach(), tolerance, name)


def _compare_entries(expected: Tensor, actual: Tensor, tolerance: Tolerance, name: str) -> Difference | None:
    if not _any_differ(expected, actual, tolerance):
        return None
    shape = tuple(expected.shape)
    wrong, gap = _wrong(expected, actual, tolerance)
    places = wrong.nonzero()
    most = tuple(places[gap[wrong].nan_to_num(torch.inf, torch.inf).argmax()].tolist())
    deviation = gap[most].item()
    place = f"{name} at {list(most)}" if most else name
    how = "differs" if expected.dtype is torch.bool else _how(expected[most].item(), actual[most].item(), deviation)
    message = f"{place} {how} ({len(places)} of {wrong.numel()} entries differ)"
    return Difference(message, most, deviation, shape, tuple(places[0].tolist()))


def _wrong(expected: Tensor, actual: Tensor, tolerance: Tolerance) -> tuple[Tensor, Tensor]:
    """Which entries differ, and by how much."""
    if not expected.is_floating_point():
        exact = torch.complex128 if expected.is_complex() or actual.is_complex() else torch.float64
        return expected != actual, (expected.to(exact) - actual.to(exact)).abs()
    same = (expected == actual) | (expected.isnan() & actual.isnan())
    gap = torch.where(same, 0.0, (expected.double() - actual.double()).abs())
    least = tolerance.least(expected)
    wrong = ~same & ~(gap <= least)  # a NaN is never within a bound
    if wrong.any():
        wrong = ~same & ~(gap <= least + _room(expected, tolerance))
    return wrong, gap


def _room(expected: Tensor, tolerance: Tolerance) -> float:
    """What is allowed beyond `least`; it is measured only where more than that differs."""
    return tolerance.beyond_least(expected) if tolerance.spread or tolerance.eps_of_rounding else 0.0


def wrong_entries(expected: Any, actual: Any, tolerance: Tolerance = PLAIN) -> Tensor | None:
    """Which entries of one tensor differ, in its shape [...]; None if the two are not compared entry by entry."""
    if not isinstance(expected, Tensor) or not isinstance(actual, Tensor) or expected.shape != actual.shape:
        return None
    actual = loosen_form(expected, actual)
    return None if actual.dtype != expected.dtype else _wrong(expected.detach(), actual.detach(), tolerance)[0]


def _how(expected: complex, actual: complex, deviation: float) -> str:
    if cmath.isfinite(expected) and not cmath.isfinite(actual):
        return f"is {actual} where a finite number is expected"
    if math.isfinite(deviation):
        return f"is off by {deviation:.4g}"
    return "should be -inf" if expected == -math.inf else "differs"


def _kind(value: Any) -> str:
    if value is None:
        return f"None{MISSING_RETURN}"
    known = {Tensor: "a tensor", list: "a list", tuple: "a tuple", dict: "a dict", MappingCopy: "a dataclass"}
    return next(
        (name for kind, name in known.items() if isinstance(value, kind)), f"a value of type {type(value).__name__}"
    )


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")
