"""Finds the kind of mistake if no collected mistake fits: the right answer after one small transformation.

Each of a family of transformations is applied to the right answers, or to the reference's inputs. One that gives the
student's answer to every failed question is reported: it is a fact about these answers, not a guess about their cause.
Where none fits, the report says what the failed questions have in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder.api import Exercise
from autograder.checks.compare import RaisedError, compare, compare_values, wrong_entries
from autograder.checks.properties.parameters import PARAMETERS
from autograder.checks.reference import parameters_of
from autograder.diagnosis.conditions import condition
from autograder.diagnosis.evidence import FEWEST_WRONG, Evidence, Replies, is_value, name_of
from autograder.diagnosis.facts import argument, fact, holds_nan, influence, tensors
from autograder.diagnosis.mutations import explain_by_mutation
from autograder.diagnosis.shares import of_rows, of_scores, of_sequence
from autograder.diagnosis.transformations import OUTPUT
from autograder.feedback.translate import say
from autograder.feedback.words import sentence
from autograder.sandbox.client import StudentError

if TYPE_CHECKING:
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Answer as Reply
    from autograder.checks.probe import Finding

MIN_QUESTIONS = 2  # questions that a transformation must explain, since any number can become any other


def kind(exercise: Exercise, findings: Sequence[Finding], reference: LocalSubject, subject: Any) -> str | None:
    """A sentence for the student on the transformation that turns the right answers into theirs, or None.

    `subject`: the student's code, which is asked again before anything general is said of it; None if it can't be.
    """
    failed = [finding for finding in findings if finding.failed]
    core = [reply for finding in failed if finding.check.core for reply in finding.failed if is_value(reply)]
    if not core:
        return _properties(failed, Evidence(exercise, Replies([], [], reference), subject))
    ordinary = [finding for finding in findings if finding.check.core and finding.check.name != PARAMETERS]
    passed = [r for f in ordinary for r in f.answers if r.difference is None and is_value(r)]
    shown = [f.shrunk for f in failed if f.check.core and f.shrunk is not None and is_value(f.shrunk)]
    told = [*core, *shown]  # it must be true of the example beside it, too
    evidence = Evidence(exercise, Replies(told, passed, reference), subject)
    if named := _of_parameters(core):
        return named
    if stopped := evidence.spoken(_stopped):
        return " ".join(filter(None, (sentence(stopped), condition(findings, evidence, stops=True))))
    if explanation := _explained(evidence) or _of_several(evidence):
        return explanation
    names = parameters_of(core[0].probe.case, reference)
    found = influence_of(evidence, findings, names) or condition(findings, evidence)
    return found or evidence.spoken(lambda seen: fact(seen.wrong, names)) or _by_symbol(evidence)


def _explained(evidence: Evidence, symbol: str = "") -> str | None:
    """What turns the right answers into the student's, or which part of them is right."""
    rules = (_of_form, _of_output, _of_scores, _of_input, _of_entries)
    return next((told for rule in rules if (told := evidence.spoken(rule, symbol))), None)


def _of_several(evidence: Evidence) -> str | None:
    """What is true of the entries of each answer, and the change of a right answer that gives them all."""
    seen = evidence.spoken(lambda seen: of_rows(seen.wrong) or of_sequence(seen.wrong))
    at_hand = evidence.at_hand
    mutation = explain_by_mutation(at_hand.wrong, evidence.exercise, at_hand.right, evidence.all)
    return " ".join(filter(None, (seen, mutation))) or None


def _by_symbol(evidence: Evidence) -> str | None:
    """What is wrong with the first of several symbols of which something is known: each may have its own mistake."""
    symbols = list(dict.fromkeys(map(name_of, evidence.at_hand.wrong)))
    for symbol in symbols if len(symbols) > 1 else ():
        names = parameters_of(evidence.at_hand.of(symbol).wrong[0].probe.case, evidence.at_hand.reference)

        def rule(seen: Replies, names: Sequence[str] = names) -> str | None:
            """What is true of the entries of these answers."""
            return of_rows(seen.wrong) or of_sequence(seen.wrong) or fact(seen.wrong, names)

        stopped = evidence.spoken(_stopped, symbol)
        if explanation := stopped or _explained(evidence, symbol) or evidence.spoken(rule, symbol):
            return say("In `{symbol}`: {explanation}", symbol=symbol, explanation=explanation)
    return None


def influence_of(evidence: Evidence, findings: Sequence[Finding], names: Sequence[str]) -> str | None:
    """What the gradients say, if those at fresh questions say so too."""
    if influence(findings, names) is None:
        return None
    fresh = evidence.fresh("gradients")
    several = sum(len(finding.failed) for finding in fresh) >= FEWEST_WRONG
    return influence([*findings, *fresh], names) if several else None


def _of_parameters(core: Sequence[Reply]) -> str | None:
    """Which parameters a class lacks, and which it has instead: nothing else can be asked of it."""
    reply = next((one for one in core if one.probe.case.init is not None and _lacks_parameters(one)), None)
    if reply is None:
        return None
    lacking, extra = sorted(reply.expected.keys() - reply.actual.keys()), reply.actual.keys() - reply.expected.keys()
    names, others = (", ".join(f"`{one}`" for one in some) for some in (lacking, sorted(extra)))
    if not others:
        return say("Your class lacks the parameters {names}.", names=names)
    return say("Your class lacks the parameters {names}, and has {others} instead.", names=names, others=others)


def _lacks_parameters(reply: Reply) -> bool:
    """Whether the question is for the shapes of the parameters, and some are missing."""
    both = isinstance(reply.expected, dict) and isinstance(reply.actual, dict)
    shapes = both and all(isinstance(one, tuple | list) for one in reply.expected.values())
    return shapes and bool(reply.expected.keys() - reply.actual.keys())


def _stopped(seen: Replies) -> str | None:
    core = seen.wrong
    messages = {reply.actual.message for reply in core if isinstance(reply.actual, RaisedError)}
    if len(messages) == 0 or not all(isinstance(reply.actual, RaisedError) for reply in core):
        return None
    message = min(messages, key=len)
    return say("In every case that fails, your code raises an error: {message}", message=message)


def _of_form(seen: Replies) -> str | None:
    core = seen.wrong
    if any(isinstance(reply.actual, RaisedError) for reply in core):
        return None
    if all(type(reply.actual) is not type(reply.expected) and not _number(reply) for reply in core):
        return say("The type or shape of your result is wrong: {message}.", message=_message(core))
    if all(isinstance(reply.expected, tuple) and _swapped(reply) for reply in core):
        return say("Your results are right, but in the wrong order.")
    return None


def _of_scores(seen: Replies) -> str | None:
    return of_scores(seen.wrong, seen.right)


def _number(reply: Reply) -> bool:
    return isinstance(reply.expected, int | float) and isinstance(reply.actual, int | float)


def _swapped(reply: Reply) -> bool:
    expected, actual = reply.expected, reply.actual
    return (
        isinstance(actual, tuple) and len(actual) > 1 and compare(expected[::-1], actual, reply.probe.tolerance) is None
    )


def _of_output(seen: Replies) -> str | None:
    core = seen.wrong
    pairs = [tensors(reply) for reply in core]
    if any(pair is None for pair in pairs) or len(core) < MIN_QUESTIONS:
        return None
    for name, transform in OUTPUT:
        if all(_alike(reply, transform, pair) for reply, pair in zip(core, pairs, strict=True)):
            if any(_changes(reply, transform) for reply in seen.right):
                return None  # it would have changed answers that are right
            return say("Your result is the right one {how}.", how=say(name))
    return _factor(seen, pairs)


def _alike(reply: Reply, transform: Callable[[Tensor], Tensor], pair: tuple[Tensor, Tensor] | None) -> bool:
    assert pair is not None
    made = _made(pair[0], transform)
    if made is None or made.shape != pair[1].shape:
        return False
    same = compare_values(made, pair[1], reply.probe.tolerance) is None
    return same and compare(pair[0], made, reply.probe.tolerance) is not None


def _changes(reply: Reply, transform: Callable[[Tensor], Tensor]) -> bool:
    """Whether the transformation makes another answer of a right one; if it is several tensors, of each of them."""
    parts = reply.expected if isinstance(reply.expected, tuple) else (reply.expected,)
    made = [(part, _made(part, transform)) for part in parts if isinstance(part, Tensor)]
    known = [(part, other) for part, other in made if other is not None]
    return bool(known) and all(compare(part, other, reply.probe.tolerance) is not None for part, other in known)


def _made(value: Tensor, transform: Callable[[Tensor], Tensor]) -> Tensor | None:
    """The transformed value; None if it can't be transformed in this way."""
    try:
        return transform(value)
    except (RuntimeError, IndexError, TypeError, ValueError):
        return None


def _factor(seen: Replies, pairs: Sequence[tuple[Tensor, Tensor] | None]) -> str | None:
    """A single factor of each whole answer: the same in all answers, or given by a size of the inputs."""
    found = [_ratio(*pair) if pair else None for pair in pairs]
    if any(ratio is None or not math.isfinite(ratio) or ratio == 0 for ratio in found):
        return None
    kept = [reply for reply in seen.right if isinstance(reply.expected, Tensor) and bool(reply.expected.any())]
    ratios = [ratio for ratio in found if ratio is not None] + [1.0] * len(kept)
    if all(math.isclose(ratio, ratios[0], rel_tol=1e-3) for ratio in ratios):
        return say("Your result is the right one times {factor}, in every case.", factor=f"{ratios[0]:.4g}")
    sizes = [_sizes(reply) for reply in (*seen.wrong, *kept)]
    for name in sizes[0]:
        for power, label in POWERS:
            if all(math.isclose(ratio, size.get(name, 0) ** power if size.get(name) else 0, rel_tol=1e-3)
                   for ratio, size in zip(ratios, sizes, strict=True)):  # fmt: skip
                return say("Your result is the right one {power} {size} (in the smallest case, times {factor}).",
                           power=say(label), size=name, factor=f"{ratios[0]:.4g}")  # fmt: skip
    if any(pair is not None and pair[0].numel() < 3 for pair in pairs):
        return None  # any number is some multiple of any other
    return say(
        "Your result is the right one times a factor that differs from case to case: check what you divide or "
        "multiply by."
    )


POWERS = ((1.0, "times"), (-1.0, "divided by"), (0.5, "times the square root of"),
          (-0.5, "divided by the square root of"), (2.0, "times the square of"))  # fmt: skip


def _ratio(expected: Tensor, actual: Tensor) -> float | None:
    if expected.shape != actual.shape or not expected.is_floating_point() or not expected.numel():
        return None
    expected, actual = expected.double(), actual.double()
    used = expected.abs() > 1e-3 * expected.abs().max()
    if not used.any() or not (torch.isfinite(expected) & torch.isfinite(actual)).all():
        return None
    ratios = actual[used] / expected[used]
    spread = (actual - ratios.median() * expected).abs().max()
    return float(ratios.median()) if spread <= 1e-5 * actual.abs().max() else None


SIZES = ("the size of axis {axis} of {name}", "the size of the last axis of {name}",
         "the size of the second-to-last axis of {name}")  # fmt: skip


def _sizes(reply: Reply) -> dict[str, int]:
    """The sizes in a question by name: the axes of its tensors, and its integers."""
    case = reply.probe.case
    named = {argument(index): value for index, value in enumerate(case.args)}
    named |= {f"`{name}`": value for name, value in case.kwargs.items()}
    sizes: dict[str, int] = {}
    for name, value in named.items():
        if isinstance(value, Tensor):
            for axis in range(1, value.dim() + 1):
                dimension = SIZES[axis] if axis < len(SIZES) else SIZES[0]
                sizes[say(dimension, name=name, axis=value.dim() - axis)] = value.shape[-axis]
            sizes[say("the number of entries of {name}", name=name)] = value.numel()
            if value.dtype is torch.bool:
                sizes[say("the number of True in {name}", name=name)] = int(value.sum())
        elif isinstance(value, int) and not isinstance(value, bool):
            sizes[name] = value
    return sizes


def _of_input(seen: Replies) -> str | None:
    """The right answer to another question: an argument left out, inverted, or exchanged for another."""
    if len(seen.wrong) < MIN_QUESTIONS:
        return None
    first = sorted(seen.wrong, key=lambda reply: reply.probe.case.size())
    for name, change in _other_arguments(first[0], seen.reference):
        if all(_answers(reply, change, seen.reference) for reply in first) and all(
            _answers(reply, change, seen.reference) is not False for reply in seen.right if _is_plain(reply, seen)
        ):
            return say("Your result is the right one for other arguments: {change}.", change=name)
    return None


Change = Callable[[list[Any]], list[Any] | None]


def _other_arguments(reply: Reply, reference: LocalSubject) -> Iterator[tuple[str, Change]]:
    names = parameters_of(reply.probe.case, reference)
    for index, value in enumerate(reply.probe.case.args):
        name = f"`{names[index]}`" if index < len(names) else argument(index)
        for label, change in CHANGES:
            yield say(label).format(name), _at(index, change)
        for other in range(index):
            if isinstance(value, Tensor):
                pair = {"first": f"`{names[other]}`" if other < len(names) else argument(other), "second": name}
                yield say("{first} and {second} are swapped", **pair), _exchanged(index, other)
                yield say("{second} is used instead of {first}", **pair), _copied(index, other)


CHANGES: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("as if {} were not given", lambda value: None),
    ("as if {} were inverted", lambda value: ~value if value.dtype is torch.bool else 1 / 0),
    ("as if every entry of {} were True", lambda value: torch.ones_like(value) if value.dtype is torch.bool else 1 / 0),
    ("as if every entry of {} were zero", lambda value: torch.zeros_like(value)),
    ("as if every entry of {} were one", lambda value: torch.ones_like(value)),
    ("as if the last two axes of {} were swapped", lambda value: value.transpose(-1, -2)),
    ("as if {} were reversed", lambda value: value.flip(-1)),
    ("as if {} were reversed along its first axis", lambda value: value.flip(0)),
    ("as if {} were reversed along its second axis", lambda value: value.flip(1)),
    ("as if {} were shifted by one position", lambda value: value.roll(1, -1)),
    ("as if {} were shifted back by one position", lambda value: value.roll(-1, -1)),
    ("as if the first batch entry of {} were used for all", lambda value: value[:1].expand_as(value)),
    ("as if {} were larger by one", lambda value: value + 1),
    ("as if {} were smaller by one", lambda value: value - 1),
    ("as if {} were twice as large", lambda value: value * 2),
    ("as if {} were half as large", lambda value: value // 2 if isinstance(value, int) else value / 2),
    ("as if {} were 0", lambda value: type(value)(0) if isinstance(value, int | float) else 1 / 0),
    ("as if {} were 1", lambda value: type(value)(1) if isinstance(value, int | float) else 1 / 0),
    ("as if {} had the opposite sign", lambda value: -value),
    ("as if {} were in reverse order", lambda value: value[::-1]),
    ("as if the last entry of {} were missing", lambda value: value[:-1]),
    ("as if the first entry of {} were missing", lambda value: value[1:]),
)


def _is_plain(reply: Reply, seen: Replies) -> bool:
    """Whether the answer to the question is the value of its case, and not something that is made of it."""
    probe = reply.probe
    return (
        getattr(probe.ask, "__func__", None) is type(probe.case).value and probe.case.symbol in seen.reference.namespace
    )


def _at(index: int, change: Callable[[Any], Any]) -> Change:
    return lambda args: [*args[:index], change(args[index]), *args[index + 1 :]] if index < len(args) else None


def _exchanged(index: int, other: int) -> Change:
    def change(args: list[Any]) -> list[Any]:
        args[index], args[other] = args[other], args[index]
        return args

    return change


def _copied(index: int, other: int) -> Change:
    def change(args: list[Any]) -> list[Any]:
        args[other] = args[index]
        return args

    return change


def _answers(reply: Reply, change: Change, reference: LocalSubject) -> bool | None:
    """Whether the reference, given the changed arguments, answers as the student did; None if it can't answer."""
    case = reply.probe.case
    try:
        args = change(list(case.args))
        if args is None:
            return None
        made = replace(case, args=tuple(args)).value(reference)
    except (StudentError, ArithmeticError, AttributeError, TypeError, ValueError, RuntimeError, IndexError):
        return None
    return compare_values(made, reply.actual, reply.probe.tolerance) is None


def _of_entries(seen: Replies) -> str | None:
    """Which entries are right, where there is a rule for it: one row, one column, one side of the diagonal."""
    core = seen.wrong
    if len(core) < MIN_QUESTIONS:
        return None
    pairs = [(reply, tensors(reply)) for reply in core]
    if any(pair is None for _, pair in pairs):
        return None
    wrong = [wrong_entries(*pair, reply.probe.tolerance) for reply, pair in pairs if pair]
    if any(one is None or not one.any() or one.dim() == 0 for one in wrong):
        return None
    known = [one for one in wrong if one is not None]
    for name, rule in ENTRIES:
        if all(_follows(rule, one) for one in known):
            return say("Part of your result is right: {rule}.", rule=say(name))
    if all(holds_nan(*pair) for _, pair in pairs if pair):
        return say("Your result holds NaN where a number is expected: look for 0 / 0, or infinity minus infinity.")
    return None


def _follows(rule: Callable[[Tensor], Tensor], wrong: Tensor) -> bool:
    """Whether the entries that the rule selects are right; not where it selects none, of which all is true."""
    try:
        selected = rule(wrong)
        return bool(selected.numel()) and not selected.any()
    except (IndexError, RuntimeError):
        return False


def _only(part: Tensor, others: Tensor) -> Tensor:
    """What must be False so that this part alone is right; `others`: whether each other part has a wrong entry."""
    return torch.cat([part.flatten(), ~others.flatten()])


def _where(wrong: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
    """The entries of this part of each matrix, as a vector; it is empty where a matrix has no such part."""
    return wrong[..., part(torch.ones(wrong.shape[-2:], dtype=torch.bool))]


ENTRIES: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("all but the last entry of the last axis are right", lambda wrong: wrong[..., :-1]),
    ("all but the first entry of the last axis are right", lambda wrong: wrong[..., 1:]),
    ("all but the last row are right", lambda wrong: wrong[..., :-1, :]),
    ("all but the first row are right", lambda wrong: wrong[..., 1:, :]),
    ("only the last row is right", lambda wrong: _only(wrong[..., -1, :], wrong[..., :-1, :].any(-1))),
    ("only the first row is right", lambda wrong: _only(wrong[..., 0, :], wrong[..., 1:, :].any(-1))),
    ("only the first column is right", lambda wrong: _only(wrong[..., 0], wrong[..., 1:].any(-2))),
    ("only the last column is right", lambda wrong: _only(wrong[..., -1], wrong[..., :-1].any(-2))),
    ("the entries on and below the diagonal are right", lambda wrong: _where(wrong, torch.Tensor.tril)),
    ("the entries on and above the diagonal are right", lambda wrong: _where(wrong, torch.Tensor.triu)),
    ("only the diagonal is wrong", lambda wrong: _where(wrong, lambda every: every.tril(-1) | every.triu(1))),
    ("only the first batch entry is right", lambda wrong: _only(wrong[0], wrong[1:].flatten(1).any(1))),
    ("only the last batch entry is right", lambda wrong: _only(wrong[-1], wrong[:-1].flatten(1).any(1))),
)


def _properties(failed: Sequence[Finding], evidence: Evidence) -> str | None:
    """The properties that fail although ordinary values are right; nothing unless they are at fresh questions, too."""
    fresh = evidence.fresh()
    if not fresh or any(finding.failed for finding in fresh):
        return None
    first = {finding.check.property: finding for finding in reversed(failed)}
    told = next(
        (say(PROPERTY_SENTENCES[name], message=first[name].message, check=say(first[name].check.name))
         for name in PROPERTY_SENTENCES if name in first), "",
    )  # fmt: skip
    return told.replace("..", ".") or None


PROPERTY_SENTENCES: dict[str | None, str] = {  # who changes an input has wrong gradients, too
    "purity": "Your values are right, but the call has side effects: {message}.",
    "shapes": "Your values are right, but their shape or type is not: {message}.",
    "dtypes": "Your values are right, but the dtype that you compute in or return is not: {message}.",
    "gradients": (
        "Your values are right, but their gradients are not, because something is detached, rounded or computed "
        "outside torch: {message}."
    ),
    "edges": "Your values are right, except in an edge case: {message}.",
    "cost": "Your values are right, but they take too much time or memory: {message}.",
    "values": "Your ordinary values are right, but not those of the check “{check}”: {message}.",
}


def _message(core: Sequence[Reply]) -> str:
    difference = core[0].difference
    return difference.message if difference else ""
