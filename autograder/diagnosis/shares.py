"""Kinds of mistakes in softmax weights, in the order of entries, and in lists; see autograder.diagnosis.kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks.compare import values_agree
from autograder.diagnosis.facts import always, differing, holds_nan, wrong_result
from autograder.feedback.translate import say

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply

Pair = tuple[Tensor, Tensor]
MIN_DISTINCT = 4  # numbers in a result of which an order is told; fewer are in the same places by chance
MAX_AXES = 5  # whose orders are tried


def of_scores(core: Sequence[Reply], right: Sequence[Reply] = ()) -> str | None:
    """A softmax of the right scores times a factor: the logarithms of a row's weights differ by that factor.

    `right`: answers that are right, in which the factor is one, unless their scores do not matter.
    """
    found = [_steepness(*pair) for reply in core if (pair := _shares(reply))]
    ratios = [one for one in found if one is not None]
    if len(found) < max(2, len(core) // 2) or len(ratios) < len(found):
        return None
    if all(abs(ratio - 1) < 0.01 for ratio in ratios):
        return None  # the weights are right, and something else is wrong
    ratios += [one for reply in right if (pair := _shares(reply)) and (one := _steepness(*pair)) is not None]
    if max(ratios) - min(ratios) < 0.01 * abs(ratios[0]):
        return say(
            "Your weights are what a softmax makes of the right scores times {factor}.", factor=f"{ratios[0]:.3g}"
        )
    least, most = min(ratios), max(ratios)
    return say(
        "Your weights are what a softmax makes of the right scores times a factor that differs from case to case "
        "(from {least} to {most}): check what you scale them by.",
        least=f"{least:.3g}",
        most=f"{most:.3g}",
    )


def _shares(reply: Reply) -> Pair | None:
    """The part of both answers whose rows sum to one."""
    found = [(one, other) for one, other in _parts(reply) if one.shape == other.shape and one.shape[-1:] > (2,)]
    return next(((one, other) for one, other in found if _shared_out(one) and _shared_out(other)), None)


def _parts(reply: Reply) -> list[Pair]:
    both = isinstance(reply.expected, tuple) and isinstance(reply.actual, tuple)
    parts = list(zip(reply.expected, reply.actual, strict=False)) if both else [(reply.expected, reply.actual)]
    return [(one, other) for one, other in parts if isinstance(one, Tensor) and isinstance(other, Tensor)]


def _shared_out(value: Any) -> bool:
    """Whether every row is non-negative and sums to one, or is empty."""
    if not value.is_floating_point() or value.dim() < 1 or not value.numel():
        return False
    sums = value.double().sum(-1)
    return bool((value >= 0).all() and (((sums - 1).abs() < 1e-3) | (sums == 0)).all() and (sums != 0).any())


def _steepness(expected: Tensor, actual: Tensor) -> float | None:
    """The factor of the scores before the softmax; None if none fits."""
    inside = expected > 0
    if not torch.equal(inside, actual > 0):
        return None
    right_scores, scores = (_centred(value.double(), inside) for value in (expected, actual))
    if right_scores.square().sum() < 1e-6:
        return None
    ratio = (right_scores * scores).sum() / right_scores.square().sum()
    gap = (scores - ratio * right_scores).abs().max()
    return float(ratio) if gap <= 1e-3 * max(1.0, float(scores.abs().max())) else None


def _centred(shares: Tensor, inside: Tensor) -> Tensor:
    """The scores behind these softmax weights, up to a constant in each row."""
    logs = shares.clamp(min=1e-300).log().masked_fill(~inside, 0.0)
    mean = logs.sum(-1, keepdim=True) / inside.sum(-1, keepdim=True).clamp(min=1)
    return (logs - mean).masked_fill(~inside, 0.0)


def of_rows(core: Sequence[Reply]) -> str | None:
    """Kinds that concern all entries together: the same numbers elsewhere, NaN, sums over another axis."""
    pairs = [pair for reply in core for pair in _parts(reply)[:1] if pair[0].shape == pair[1].shape and pair[0].dim()]
    if len(pairs) < max(2, len(core)):
        return None
    if all(_reordered(*pair) for pair in pairs):
        return say("Your result holds the right numbers, but in the wrong places: check the axes and their order.")
    if all(holds_nan(*pair) for pair in pairs):
        return say("Your result holds NaN where a number is expected: look for 0 / 0, or infinity minus infinity.")
    rows = [[actual for right, actual in _parts(reply) if _shared_out(right)] for reply in core]
    weights = [one for found in rows for one in found]
    if all(rows) and not any(_shared_out(one) for one in weights):
        across = all(one.dim() > 1 and _shared_out(one.transpose(-1, -2)) for one in weights)
        if across:
            return say(
                "The weights in a row should sum to one, and yours do not; your columns do, so you normalise over the "
                "wrong axis."
            )
        return say("The weights in a row should sum to one, and yours do not.")
    return None


def _reordered(right: Tensor, actual: Tensor) -> bool:
    """Whether the answer is the right one with its axes, one of them possibly split in two, in another order."""
    if right.dtype is torch.bool or right.is_complex() or right.unique().numel() < MIN_DISTINCT:
        return False
    one, other = right.double(), actual.double()
    if not _close(one.flatten().sort().values, other.flatten().sort().values):
        return False
    views = (view for view in _split_axes(one) if view.dim() <= MAX_AXES)
    orders = ((view, order) for view in views for order in permutations(range(view.dim())))
    return any(_close(view.permute(order).reshape(one.shape), other) for view, order in orders)


def _split_axes(value: Tensor) -> Iterator[Tensor]:
    """The tensor itself, and with one axis split in two, in each way."""
    yield value
    for axis, size in enumerate(value.shape):
        yield from (value.unflatten(axis, (n, size // n)) for n in range(2, size) if size % n == 0)


def _close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True)


def of_sequence(core: Sequence[Reply]) -> str | None:
    """Kinds for lists and texts: what is missing, what is superfluous, up to where they agree. Of several results it
    is told which one, and nothing if it is another one in other cases."""
    results = {wrong_result(reply) for reply in core}
    if len(results) > 1 or None in results:
        return None
    pairs = [differing(reply.expected, reply.actual, reply.probe.tolerance) for reply in core]
    kind = next((kind for kind in WORDS if all(type(right) is type(actual) is kind for right, actual in pairs)), None)
    found = (name for name, rule in SEQUENCES if kind and always(rule(right, actual) for right, actual in pairs))
    name = next(found, None)
    if not kind or not name:
        return None
    told, part = say(WORDS[kind], how=say(name)), next(iter(results), "")
    return say("In {part} of your results: {explanation}", part=part, explanation=told) if part else told


WORDS: dict[type, str] = {
    list: "Your list is wrong: {how}.",
    str: "Your text is wrong: {how}.",
}


def _same(one: Any, other: Any) -> bool:
    """Whether two entries are equal; they may be tensors, whose `==` is a tensor."""
    return values_agree(one, other)


def _starts(whole: list, part: list) -> bool | None:
    """Whether the one begins with the other and goes on; None for an empty part, with which everything begins."""
    if len(part) >= len(whole):
        return False
    return _same(whole[: len(part)], part) if part else None


def _ends(whole: list, part: list) -> bool:
    return 0 < len(part) < len(whole) and _same(whole[-len(part) :], part)


def _within(part: list, whole: list) -> bool:
    """Whether each entry of `part` stands in `whole`, as often."""
    return not Counter(map(repr, part)) - Counter(map(repr, whole))


def _in_order(part: list, whole: list) -> bool:
    """Whether the entries of `part` are those of `whole` in the same order, with gaps."""
    rest = iter(map(repr, whole))
    return all(one in rest for one in map(repr, part))


def _measured(entries: list) -> bool:
    """Whether the entries are, or hold, measured numbers, of which a wrong one is no other one's lack."""
    return any(isinstance(leaf, float | Tensor) for leaf in tree_flatten(list(entries))[0])


SEQUENCES: tuple[tuple[str, Callable[[list, list], bool | None]], ...] = (
    ("it is empty", lambda right, actual: not actual),
    ("it has the right entries in reverse order", lambda right, actual: _same(right[::-1], actual)),
    ("it lacks the last entries", _starts),
    ("it goes on after it should have ended", lambda right, actual: _starts(actual, right)),
    ("it lacks the first entries", _ends),
    ("it has superfluous entries before the right ones", lambda right, actual: _ends(actual, right)),
    ("it has the right entries in the wrong order",
     lambda right, actual: sorted(map(repr, right)) == sorted(map(repr, actual))),
    ("all of its entries are right, but some are missing",
     lambda right, actual: 0 < len(actual) < len(right) and _in_order(actual, right)),
    ("all of its entries are right, but some are missing, and their order is wrong",
     lambda right, actual: _within(actual, right) and len(actual) < len(right) and not _in_order(actual, right)),
    ("it has all the right entries, and superfluous ones",
     lambda right, actual: 0 < len(right) < len(actual) and _within(right, actual)),
    ("it is too short", lambda right, actual: len(actual) < len(right)),
    ("it is too long", lambda right, actual: len(actual) > len(right)),
    ("it starts with the right entry and differs later",
     lambda right, actual: bool(right and actual) and _same(right[:1], actual[:1])),
    ("it has the right number of entries, but they are wrong from the first on",
     lambda right, actual: len(actual) == len(right) and not _same(right[:1], actual[:1])),
    ("it has the right number of entries, but some of them are wrong",
     lambda right, actual: len(actual) == len(right)),
    ("it has entries that it should not have, and lacks others",
     lambda right, actual: not _measured(right) and not _within(actual, right) and not _within(right, actual)),
)  # fmt: skip
