"""How much of what is wrong in an answer another answer has as well: with two mistakes, each alone explains a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_leaves

from autograder.checks.compare import agree
from autograder.checks.probe import Answer as Reply

OTHER_SHAPE = 0.5  # for the student's shape, where it is not the right one


def closeness(answer_to: Callable[[Reply], Any], replies: Sequence[Reply]) -> float:
    """The share of the wrong entries of these answers that the other's answers have too, added up."""
    return sum(_of_answer(answer_to(reply), reply) for reply in replies)


def _of_answer(answer: Any, reply: Reply) -> float:
    three = [tree_leaves(one) for one in (reply.expected, reply.actual, answer)]
    if len({len(one) for one in three}) > 1:
        return 0.0
    tolerance = reply.probe.tolerance
    shares = [_share(expected, actual, made, tolerance) for expected, actual, made in zip(*three, strict=True)]
    known = [one for one in shares if one is not None]
    return sum(known) / len(known) if known else 0.0


def _share(expected: Any, actual: Any, made: Any, tolerance: Any) -> float | None:
    """Of one result; None where it is right."""
    if agree(expected, actual, tolerance):
        return None
    if not all(isinstance(one, Tensor) for one in (expected, actual, made)) or made.shape != actual.shape:
        return float(agree(made, actual, tolerance))
    if expected.shape != actual.shape:
        return OTHER_SHAPE
    one, other, right = (value.detach().double() for value in (made, actual, expected))
    wrong = ~right.isclose(other, rtol=1e-4, atol=1e-6, equal_nan=True)
    same = one.isclose(other, rtol=1e-4, atol=1e-6, equal_nan=True) & wrong
    return float(same.sum() / wrong.sum().clamp(min=1))
