"""Facts about all wrong answers, for when no transformation of the right answers explains them; most useful first.

They say less than a transformation does: which part is right, what is the same in both, in which direction the rest
is off. A fact is stated only if it holds for every answer that failed. A rule gives None for an answer of which it says
nothing: one without a row, or without an entry of the kind that it speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks.compare import RaisedError, values_agree, wrong_entries
from autograder.feedback.translate import say

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply
    from autograder.checks.probe import Finding

Pair = tuple[Tensor, Tensor]  # the right answer and the student's
Rule = Callable[[Tensor, Tensor], bool | None]
NamesOf = Callable[["Reply"], Sequence[str]]  # of the arguments of a reply's question, in order
MIN_ANSWERS = 2  # answers for which a fact must hold, since much is true of a single one by chance
ORDINALS = ("the first", "the second", "the third", "the fourth", "the fifth", "the sixth")
GRADIENT_SENTENCES = {  # whether the right answer, and the student's, has a gradient
    (True, False): "No gradient flows from your result to {names}, although one should: does it change your result?",
    (False, True): "Your result should not depend on {names}, but its gradients show that it does.",
}
CLOSE = 1e-4  # relative: two float32 computations of one number
ROUNDING, CLEAR = 1e-6, 1e-4  # of the largest gradient: what rounding may leave of zero, and what it never does


def holds_nan(expected: Tensor, actual: Tensor) -> bool:
    """Whether the student's answer holds NaN where the right one, of the same shape, holds a number."""
    if not actual.is_floating_point() or expected.shape != actual.shape:
        return False
    return bool((actual.isnan() & ~expected.isnan()).any())


def always(outcomes: Iterable[bool | None]) -> bool:
    """Whether a rule holds of several answers, and of none of them does not."""
    found = list(outcomes)
    return False not in found and found.count(True) >= MIN_ANSWERS


def differing(expected: Any, actual: Any, tolerance: Any) -> tuple[Any, Any]:
    """The first part that differs, from both; the whole answers where their structures differ."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping) and set(expected) == set(actual):
        parts = [(expected[key], actual[key]) for key in expected]
    elif isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        parts = list(zip(expected, actual, strict=True))
    else:
        return expected, actual
    wrong = next((pair for pair in parts if not values_agree(*pair, tolerance)), None)
    return (expected, actual) if wrong is None else differing(*wrong, tolerance)


def tensors(reply: Reply) -> Pair | None:
    """The first part of an answer that differs, as tensors; None if it is not a tensor."""
    parts = differing(reply.expected, reply.actual, reply.probe.tolerance)
    if all(isinstance(part, list) and any(isinstance(one, Tensor) for one in part) for part in parts):
        parts = differing(tuple(parts[0]), tuple(parts[1]), reply.probe.tolerance)
    expected, actual = (_tensor(part) for part in parts)
    return None if expected is None or actual is None else (expected, actual)


def wrong_result(reply: Reply) -> str | None:
    """In words, which of several results is the first that differs; "" of a single one, None of one without words."""
    expected, actual = reply.expected, reply.actual
    if not isinstance(expected, tuple) or not isinstance(actual, tuple) or not 1 < len(expected) == len(actual):
        return ""
    pairs = zip(ORDINALS, zip(expected, actual, strict=True), strict=False)
    wrong = (say(name) for name, pair in pairs if not values_agree(*pair, reply.probe.tolerance))
    return next(wrong, None)


def _tensor(value: Any) -> Tensor | None:
    if isinstance(value, Tensor):
        return value.detach()
    try:
        return torch.tensor(value) if isinstance(value, bool | int | float | list | tuple) else None
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None


def fact(core: Sequence[Reply], names_of: NamesOf, others: Sequence[Reply] = ()) -> str | None:
    """A sentence that is true of all these answers; None if there is none.

    `others`: wrong answers to other checks, of which what is said of every case must be true as well.
    """
    if len(core) < MIN_ANSWERS:
        return None
    if any(isinstance(reply.actual, RaisedError) for reply in core):
        return _stops(core)
    pairs = [pair for reply in core if (pair := tensors(reply)) is not None]
    if len(pairs) == len(core):
        found = _of_tensors(core, pairs, names_of, others)
        if found:
            return found
    return _of_parts(core, others) or _of_fields(core) or _of_some_forms(core)


def _of_some_forms(core: Sequence[Reply]) -> str | None:
    """A sentence for answers of which some have a wrong shape. Lists have none: which entries are chosen decides how
    many there are."""
    pairs = [pair for reply in core if not _is_list(reply) and (pair := tensors(reply)) is not None]
    formed = [pair for pair in pairs if pair[0].shape != pair[1].shape]
    if len(formed) < MIN_ANSWERS:
        return None
    expected, actual = min(formed, key=lambda pair: pair[0].numel())
    return say(
        "In some cases your result has the wrong shape, in the smallest of them {actual} instead of {right}.",
        actual=_shape(actual), right=_shape(expected),
    )  # fmt: skip


def _of_tensors(core: Sequence[Reply], pairs: Sequence[Pair], names_of: NamesOf, others: Sequence[Reply]) -> str | None:
    if not all(expected.shape != actual.shape for expected, actual in pairs):
        return _of_values(core, names_of, others)
    return None if any(map(_is_list, core)) else _of_form(pairs)


def _is_list(reply: Reply) -> bool:
    """Whether the part that differs is a list of something else than tensors."""
    parts = differing(reply.expected, reply.actual, reply.probe.tolerance)
    return any(isinstance(part, list) and not any(isinstance(one, Tensor) for one in part) for part in parts)


def _of_fields(core: Sequence[Reply]) -> str | None:
    """Which parts of the entries are right in every case, of a list of tuples."""
    fields: set[int] | None = None
    size = 0
    for reply in core:
        expected, actual = differing(reply.expected, reply.actual, reply.probe.tolerance)
        if (
            not isinstance(expected, list)
            or not isinstance(actual, list)
            or len(expected) != len(actual)
            or not expected
        ):
            return None
        entries = [*expected, *actual]
        size = size or len(entries[0]) if isinstance(entries[0], tuple) else 0
        if not 2 <= size <= len(ORDINALS) or any(not isinstance(one, tuple) or len(one) != size for one in entries):
            return None
        good = {at for at in range(size)
                if values_agree([one[at] for one in expected], [one[at] for one in actual])}  # fmt: skip
        fields = good if fields is None else fields & good
    if not fields:
        return None
    return say("In each entry of your list, these are right in every case: {right}. These are not: {rest}.",
               right=", ".join(say(ORDINALS[at]) for at in range(size) if at in fields),
               rest=", ".join(say(ORDINALS[at]) for at in range(size) if at not in fields))  # fmt: skip


def influence(findings: Sequence[Finding], names_of: NamesOf) -> str | None:
    """Which parameters and inputs lack a gradient in the student's answer, or have one but should not."""
    replies = [reply for finding in findings for reply in finding.failed if finding.check.property == "gradients"]
    if any(not _finite(reply) for finding in findings if finding.check.core for reply in finding.failed):
        return None  # only finite entries are differentiated; the others may depend on other inputs
    moved = [one for reply in replies if (one := _moved(reply, names_of(reply))) is not None]
    if len(moved) < MIN_ANSWERS or len(moved) < len(replies):
        return None
    shared = set.intersection(*(set(one) for one in moved))
    for pair, text in GRADIENT_SENTENCES.items():
        if found := sorted(name for name in shared if all(one[name] == pair for one in moved)):
            listed = ", ".join(found[:3])
            return say(text, names=say("{names} and others", names=listed) if len(found) > 3 else listed)
    return _of_pattern([_patterns(reply, names_of(reply)) for reply in replies])


def _of_pattern(patterns: Sequence[Mapping[str, Pair]]) -> str | None:
    """Of which entries of an input, or a parameter, the result wrongly depends, or wrongly does not."""
    for name in patterns[0]:
        pairs = [one[name] for one in patterns if name in one]
        wrong = [(lacks, extra) for lacks, extra in pairs if (lacks | extra).any()]
        if not len(patterns) == len(pairs) == len(wrong) >= MIN_ANSWERS:
            continue  # a softmax over one entry, or a saturated one, has no gradient whatever is wrong
        less, more = (any(bool(one.any()) for one in ones) for ones in zip(*wrong, strict=True))
        if more and not less:
            extra = [extra for _, extra in wrong]
            where = next((say(text) for text, rule in ENTRY_PLACES if all(map(rule, extra))), "")
            if where:
                return say("Your result should not depend on {where} of {name}, but its gradients show that it does.",
                           where=where, name=name)  # fmt: skip
            return say("Your result has a gradient for entries of {name} for which the right one has none.", name=name)
        if less and not more:
            text = "Some entries of {name} get no gradient from your result, although they should: does it use them?"
            return say(text, name=name)
        return None  # both: other values switch other units of a ReLU off, whatever is wrong
    return None


def _patterns(reply: Reply, names: Sequence[str]) -> dict[str, Pair]:
    """Of each gradient the entries that are zero only in the student's answer, and those only in the right one."""
    found = _gradients(reply, names)
    largest = _largest(found)
    return {name: (_lacks(one, other, largest), _lacks(other, one, largest)) for name, one, other in found
            if isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape}  # fmt: skip


def _largest(found: Sequence[tuple[str, Any, Any]]) -> float:
    """The largest gradient of either answer, by which rounding is measured: a key bias's is zero but for rounding."""
    both = [one for _, *pair in found for one in pair if isinstance(one, Tensor) and one.numel()]
    return max((float(one.abs().max()) for one in both), default=0.0)


def _lacks(one: Tensor, other: Tensor, largest: float) -> Tensor:
    """The entries that are clearly not zero in `one`, and zero but for rounding in `other`."""
    return (one.abs() > CLEAR * largest) & (other.abs() <= ROUNDING * largest)


def _only_at(axis: int, index: int) -> Callable[[Tensor], bool]:
    def rule(extra: Tensor) -> bool:
        if extra.dim() < -axis or extra.shape[axis] < 2:
            return False
        there = extra.select(axis, index)
        return bool(there.any()) and int(there.sum()) == int(extra.sum())

    return rule


ENTRY_PLACES: tuple[tuple[str, Callable[[Tensor], bool]], ...] = (
    ("the last row", _only_at(-2, -1)),
    ("the first row", _only_at(-2, 0)),
    ("the last column", _only_at(-1, -1)),
    ("the first column", _only_at(-1, 0)),
)


def _moved(reply: Reply, names: Sequence[str]) -> dict[str, tuple[bool | None, bool | None]] | None:
    """For each parameter and input, whether the right answer and the student's have a gradient for it at all; None
    where rounding may have made it."""
    found = _gradients(reply, names)
    largest = _largest(found)
    return {name: (_moves(one, largest), _moves(other, largest)) for name, one, other in found} or None


def _gradients(reply: Reply, names: Sequence[str]) -> list[tuple[str, Any, Any]]:
    """(name, the right gradient, the student's) of each input and parameter; none if they cannot be compared."""
    expected, actual = reply.expected, reply.actual
    if not isinstance(expected, Mapping) or not isinstance(actual, Mapping) or set(expected) != set(actual):
        return []
    args = [(place, arg) for place, arg in enumerate(reply.probe.case.args) if isinstance(arg, Tensor)]
    floats = [f"`{names[place]}`" for place, arg in args if arg.is_floating_point()]
    inputs = zip(floats, expected.get("gradient of input", ()), actual.get("gradient of input", ()), strict=False)
    names_of = {key: f"`{key.removeprefix('gradient of ')}`" for key in expected if key != "gradient of input"}
    parameters = ((name, expected[key], actual[key]) for key, name in names_of.items())
    return [*inputs, *parameters]


def _finite(reply: Reply) -> bool:
    leaves = [leaf for leaf in tree_flatten((reply.expected, reply.actual))[0] if isinstance(leaf, Tensor)]
    return all(bool(leaf.isfinite().all()) for leaf in leaves)


def _moves(gradient: Any, largest: float) -> bool | None:
    if not isinstance(gradient, Tensor) or not (gradient.abs() > ROUNDING * largest).any():
        return False
    return True if (gradient.abs() > CLEAR * largest).any() else None


def _stops(core: Sequence[Reply]) -> str:
    raised = [reply.actual.message for reply in core if isinstance(reply.actual, RaisedError)]
    return say(
        "In some cases your code raises an error, in others its result is wrong: {message}",
        message=min(raised, key=len),
    )


def _of_form(pairs: Sequence[Pair]) -> str:
    """A sentence for answers that all have a wrong shape."""
    several = any(expected.unique().numel() > 2 for expected, _ in pairs)  # one number has no order
    if several and all(_same_numbers(*pair) for pair in pairs):
        return say("Your result holds the right numbers in the wrong shape: axes are transposed, merged or split.")
    axes = {actual.dim() - expected.dim() for expected, actual in pairs}
    if len(axes) == 1 and axes != {0}:
        (more,) = axes
        return say(MORE if more > 0 else FEWER, count=abs(more))
    if axes == {0}:
        for axis in range(1, min(expected.dim() for expected, _ in pairs) + 1):
            gaps = {actual.shape[-axis] - expected.shape[-axis] for expected, actual in pairs}
            if len(gaps) == 1 and gaps != {0}:
                (gap,) = gaps
                return say(LONGER if gap > 0 else SHORTER, gap=abs(gap), where=axis_name(axis))
    expected, actual = min(pairs, key=lambda pair: pair[0].numel())
    return say(
        "Your result has the wrong shape, in the smallest case {actual} instead of {right}.",
        actual=_shape(actual),
        right=_shape(expected),
    )


MORE, FEWER = (
    "Your result has too many axes ({count} more than it should).",
    "Your result has too few axes ({count} fewer than it should).",
)
LONGER = "Your result is too long by {gap} along {where}."
SHORTER = "Your result is too short by {gap} along {where}."


def axis_name(axis: int) -> str:
    """In words, counted from the end: 1 is the last."""
    if axis > 2:
        return say("axis {number}", number=-axis)
    return say("its last axis") if axis == 1 else say("its second-to-last axis")


def _same_numbers(expected: Tensor, actual: Tensor) -> bool:
    if expected.numel() != actual.numel() or expected.is_complex() or actual.is_complex():
        return False
    one, other = (value.double().flatten().sort().values for value in (expected, actual))
    return torch.allclose(one, other, rtol=CLOSE, atol=1e-6)


def _shape(value: Tensor) -> str:
    return " × ".join(map(str, value.shape)) or say("one number")


def _of_values(core: Sequence[Reply], names_of: NamesOf, others: Sequence[Reply]) -> str | None:
    pairs = [pair for reply in core if (pair := tensors(reply)) is not None and pair[0].shape == pair[1].shape]
    if len(pairs) < len(core) or any(value.is_complex() or not value.numel() for pair in pairs for value in pair):
        return None
    if mixture := _mixture(core, names_of):
        return mixture
    if all(expected.dtype is torch.bool and actual.dtype is torch.bool for expected, actual in pairs):
        return _first(TRUTHS, pairs)
    numbers = [(expected.double(), actual.double()) for expected, actual in pairs]
    if not all(expected.isfinite().equal(actual.isfinite()) for expected, actual in numbers):
        return _first(INFINITE, numbers)
    finite = [tuple(torch.where(value.isfinite(), value, 0.0) for value in pair) for pair in numbers]
    wrong = [
        wrong_entries(expected, actual, reply.probe.tolerance)
        for reply, (expected, actual) in zip(core, pairs, strict=True)
    ]
    return _first(NUMBERS, finite) or _of_places(finite, wrong, others)  # type: ignore[arg-type]


def _first(rules: Sequence[tuple[str, Rule]], pairs: Sequence[Pair]) -> str | None:
    return next((say(name) for name, rule in rules if always(rule(*pair) for pair in pairs)), None)


def _mixture(core: Sequence[Reply], names_of: NamesOf) -> str | None:
    """Whether the answer is the right one with an argument added, or multiplied by it."""
    every = {tuple(names_of(reply)[: len(reply.probe.case.args)]) for reply in core}
    for index, name in enumerate(f"`{one}`" for one in min(every, key=len)):
        if len({names[: index + 1] for names in every}) > 1:
            break  # of several functions, which call it otherwise
        for label, mixed in MIXTURES:
            if all(_is_mixed(reply, index, mixed) for reply in core):
                return say(label, name=name)
    return None


def _is_mixed(reply: Reply, index: int, mixed: Callable[[Tensor, Tensor], Tensor]) -> bool:
    pair, argument = tensors(reply), reply.probe.case.args[index]
    if pair is None or not isinstance(argument, Tensor) or argument.shape != pair[0].shape:
        return False
    if not (argument.is_floating_point() and pair[0].is_floating_point()):
        return False
    return values_agree(mixed(pair[0], argument), pair[1], reply.probe.tolerance)


MIXTURES: tuple[tuple[str, Callable[[Tensor, Tensor], Tensor]], ...] = (
    ("Your result is the right one plus {name}.", lambda expected, given: expected + given),
    ("Your result is the right one minus {name}.", lambda expected, given: expected - given),
    ("Your result is {name} minus the right one.", lambda expected, given: given - expected),
    ("Your result is the right one times {name}.", lambda expected, given: expected * given),
    ("Your result is {name}, unchanged.", lambda expected, given: given),
)


def _flat(value: Tensor, axis: int) -> bool:
    """Whether a value is constant along an axis."""
    middle = value.mean(axis, keepdim=True)
    return bool((value - middle).abs().max() <= CLOSE * max(1e-6, float(value.abs().max())))


def _varies(value: Tensor) -> bool:
    """Whether its numbers clearly differ from one another."""
    return bool(value.max() - value.min() > CLOSE * max(1e-6, float(value.abs().max())))


def _one(value: Tensor, axis: int) -> bool:
    """Whether there is only one vector along this axis, of which no two can differ."""
    return value.dim() < 1 or value.numel() == value.shape[axis]


def _off_along(axis: int, differ: bool) -> Rule:
    """Whether each vector along the axis is off by one number; `differ`: the rule says that these numbers differ."""

    def rule(expected: Tensor, actual: Tensor) -> bool | None:
        off = actual - expected
        if expected.dim() < -axis or not _flat(off, axis):
            return False
        if differ and _one(expected, axis):
            return None
        if differ and not _varies(off):
            return False
        return None if expected.shape[axis] < 2 else True

    return rule


def _times_along(axis: int) -> Rule:
    def rule(expected: Tensor, actual: Tensor) -> bool | None:
        if expected.dim() < -axis or not (actual - expected).any():
            return False
        weight = expected.square().sum(axis, keepdim=True).clamp(min=1e-12)
        factor = (expected * actual).sum(axis, keepdim=True) / weight
        if not bool((actual - factor * expected).abs().max() <= CLOSE * actual.abs().max()):
            return False
        known = factor[(expected != 0).any(axis, keepdim=True)]  # of a row of zeros any number is the factor
        if known.numel() < 2:
            return None
        if not _varies(known):
            return False
        return None if expected.shape[axis] < 2 else True

    return rule


def _kept(statistic: Callable[[Tensor], Tensor]) -> Rule:
    def rule(expected: Tensor, actual: Tensor) -> bool | None:
        if expected.dim() < 1:
            return False
        one, other = statistic(expected), statistic(actual)
        if not bool((one - other).abs().max() <= CLOSE * max(1e-6, float(one.abs().max()))):
            return False
        return None if expected.shape[-1] < 2 else True

    return rule


def _same_order(expected: Tensor, actual: Tensor) -> bool | None:
    order = expected.flatten().argsort()
    if not bool((actual.flatten()[order].diff() >= 0).all()):
        return False
    return True if expected.unique().numel() >= 4 and actual.unique().numel() >= 2 else None


def _whole(value: Tensor) -> bool:
    return bool((value == value.round()).all())


def _off_by_one(expected: Tensor, actual: Tensor) -> bool | None:
    if not (_whole(expected) and _whole(actual) and (expected - actual).abs().max() <= 1):
        return False
    return True if max(expected.abs().max(), actual.abs().max()) > 1 else None  # no zero or one is off by more


NUMBERS: tuple[tuple[str, Rule], ...] = (
    ("Your result is the right one plus a constant, which is the same for all entries.",
     lambda expected, actual: expected.numel() > 2 and bool((actual != expected).any())
     and _flat((actual - expected).flatten(), -1)),
    ("Each row of your result is the right one plus a constant, which differs from row to row.",
     _off_along(-1, True)),
    ("All rows of your result are off by the same vector.", _off_along(-2, False)),
    ("Each row of your result is the right one times a factor, which differs from row to row.", _times_along(-1)),
    ("Each column of your result is the right one times a factor, which differs from column to column.",
     _times_along(-2)),
    ("Each row of your result has the right norm, but some have the wrong direction.",
     _kept(lambda value: value.norm(dim=-1))),
    ("Each row of your result has the right sum, but in some it is distributed differently.",
     _kept(lambda value: value.sum(-1))),
    ("Each column of your result has the right sum, but in some it is distributed differently.",
     lambda expected, actual: expected.dim() > 1 and _kept(lambda value: value.sum(-1))(expected.mT, actual.mT)),
    ("The entries of your result are in the right order by size, but their values are wrong.", _same_order),
    ("No entry of your result is off by more than one.", _off_by_one),
    ("Your result is off by less than a hundredth of its largest number: look for a small term, or for numbers of low "
     "precision.",
     lambda expected, actual: not (_whole(expected) and _whole(actual))
     and bool((actual - expected).abs().max() < 0.01 * expected.abs().max())),
)  # fmt: skip


def _within(one: Tensor, other: Tensor) -> bool | None:
    """Whether one mask is True only where the other is; None if it is True nowhere."""
    return not (one & ~other).any() if one.any() else None


TRUTHS: tuple[tuple[str, Rule], ...] = (
    ("Your mask is True wherever it should be, and in other places too.",
     lambda expected, actual: _within(expected, actual)),
    ("Your mask is True only where it should be, but not in all of these places.",
     lambda expected, actual: _within(actual, expected)),
    ("Each row of your mask has the right number of True entries, but some are in the wrong places.",
     lambda expected, actual: expected.dim() > 0 and torch.equal(expected.sum(-1), actual.sum(-1))),
    ("Your mask is True in some places where it should be False, and False in some where it should be True.",
     lambda expected, actual: bool((expected & ~actual).any() and (actual & ~expected).any())),
)  # fmt: skip


def _uncovered(expected: Tensor, actual: Tensor) -> bool | None:
    """Whether numbers stand where infinity should, and nowhere the other way round; None if neither is so."""
    if (expected.isfinite() & ~actual.isfinite()).any():
        return False
    return True if (expected.isinf() & actual.isfinite()).any() else None


INFINITE: tuple[tuple[str, Rule], ...] = (
    ("Entries of your result are finite where they should be infinite: look for what should be masked and is not.",
     _uncovered),
    ("Entries of your result are infinite or NaN where a number is expected.",
     lambda expected, actual: bool((expected.isfinite() & ~actual.isfinite()).any())),
)  # fmt: skip


def _of_places(pairs: Sequence[Pair], wrong: Sequence[Tensor | None], others: Sequence[Reply]) -> str | None:
    """What the wrong entries have in common, those of the answers to other checks included."""
    if any(one is None or not one.any() for one in wrong):
        return None
    marked = [
        (expected[one], actual[one]) for (expected, actual), one in zip(pairs, wrong, strict=True) if one is not None
    ]
    besides = [pair for reply in others if (pair := _wrong_numbers(reply)) is not None]
    return _first([(name, rule) for name, rule in PLACES if all(rule(*pair) for pair in besides)], marked)


def _wrong_numbers(reply: Reply) -> Pair | None:
    """The wrong entries as they should be and as they are; None where no single entries are wrong."""
    pair = tensors(reply)
    if pair is None or pair[0].shape != pair[1].shape or any(value.is_complex() for value in pair):
        return None
    wrong = wrong_entries(*pair, reply.probe.tolerance)
    if wrong is None or not wrong.any():
        return None
    return pair[0].double()[wrong], pair[1].double()[wrong]


PLACES: tuple[tuple[str, Rule], ...] = (
    ("The wrong entries of your result are zero, and should not be.", lambda expected, actual: not actual.any()),
    ("The wrong entries of your result should be zero.", lambda expected, actual: not expected.any()),
    ("The wrong entries of your result have the right magnitude and the wrong sign.",
     lambda expected, actual: torch.allclose(expected, -actual, rtol=CLOSE)),
    ("Wherever your result is wrong, it is too large.", lambda expected, actual: bool((actual > expected).all())),
    ("Wherever your result is wrong, it is too small.", lambda expected, actual: bool((actual < expected).all())),
    ("Wherever your result is wrong, it is too far from zero.",
     lambda expected, actual: bool((actual.abs() > expected.abs()).all())),
    ("Wherever your result is wrong, it is too close to zero.",
     lambda expected, actual: bool((actual.abs() < expected.abs()).all())),
)  # fmt: skip


def _of_parts(core: Sequence[Reply], others: Sequence[Reply]) -> str | None:
    """Which of several results are right in every case, those of other checks included, where some are."""
    found = [_right_parts(reply) for reply in [*core, *(one for one in others if _parts(one))]]
    if any(one is None for one in found):
        return None
    known = [one for one in found if one is not None]
    right = set.intersection(*(one for one, _ in known)) - _empty_parts(core)
    names = known[0][1]
    if not right or any(other != names for _, other in known):
        return None
    return say("Of your results, these are right in every case: {right}. These are not: {rest}.",
               right=", ".join(name for name in names if name in right),
               rest=", ".join(name for name in names if name not in right))  # fmt: skip


def _empty_parts(core: Sequence[Reply]) -> set[str]:
    """The results that hold nothing in any case, which nobody gets wrong."""
    return set.intersection(*({name for name, (right, _) in _parts(reply).items() if _is_empty(right)}
                              for reply in core))  # fmt: skip


def _is_empty(value: Any) -> bool:
    if isinstance(value, Tensor):
        return not value.numel()
    return value is None or (isinstance(value, list | tuple | Mapping | str) and not value)


def _parts(reply: Reply) -> dict[str, tuple[Any, Any]]:
    """Several results by name, each as it should be and as it is; empty if there is only one."""
    expected, actual = reply.expected, reply.actual
    if isinstance(expected, Mapping) and isinstance(actual, Mapping) and set(expected) == set(actual):
        return {f"`{key}`": (expected[key], actual[key]) for key in expected}
    if isinstance(expected, tuple) and isinstance(actual, tuple) and 1 < len(expected) == len(actual) <= 6:
        return {say(name): pair for name, pair in zip(ORDINALS, zip(expected, actual, strict=True), strict=False)}
    return {}


def _right_parts(reply: Reply) -> tuple[set[str], list[str]] | None:
    parts = _parts(reply)
    if not parts:
        return None
    return {name for name, pair in parts.items() if values_agree(*pair, reply.probe.tolerance)}, list(parts)
