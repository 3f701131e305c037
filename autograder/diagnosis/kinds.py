"""Finds the kind of mistake if no collected mistake fits: the right answer after one small transformation.

Each of a family of transformations is applied to the right answers, or to the reference's inputs. One that gives the
student's answer to every failed question is reported: it is a fact about these answers, not a guess about their cause.
Where none fits, the report says what the failed questions have in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from autograder.api import Exercise
from autograder.checks.compare import RaisedError, agree, compare_form, loosen_form, values_agree, wrong_entries
from autograder.checks.properties.contiguity import LAYOUT
from autograder.checks.properties.parameters import PARAMETERS
from autograder.checks.reference import parameters_of
from autograder.diagnosis.conditions import condition
from autograder.diagnosis.diagnose import Misconception, known_answers
from autograder.diagnosis.evidence import FEWEST_WRONG, Evidence, Replies, is_value, name_of, size_of
from autograder.diagnosis.facts import NamesOf, differing, fact, holds_nan, influence, tensors, wrong_result
from autograder.diagnosis.mutations import explain_by_mutation
from autograder.diagnosis.second_mistake import SecondMistakeSearch
from autograder.diagnosis.shares import of_rows, of_scores, of_sequence
from autograder.diagnosis.transformations import OUTPUT
from autograder.feedback.translate import say
from autograder.feedback.words import sentence
from autograder.sandbox.client import StudentError

if TYPE_CHECKING:
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Answer as Reply
    from autograder.checks.probe import Finding
    from autograder.exercises.answers import Answer as CollectedAnswer

OF_VALUES = ("values", "dtypes", "edges")  # properties whose checks ask for the values themselves
Change = Callable[[list[Any]], list[Any] | None]  # of the arguments of a question
MIN_QUESTIONS = 2  # questions that a transformation must explain, since any number can become any other


def kind(
    exercise: Exercise, findings: Sequence[Finding], reference: LocalSubject, subject: Any,
    known: Sequence[CollectedAnswer] | None = None,
) -> str | None:  # fmt: skip
    """As `explain`, as a sentence alone."""
    found = explain(exercise, findings, reference, subject, known)
    return found.hint if isinstance(found, Misconception) else found


def explain(
    exercise: Exercise, findings: Sequence[Finding], reference: LocalSubject, subject: Any,
    known: Sequence[CollectedAnswer] | None = None,
) -> Misconception | str | None:  # fmt: skip
    """A sentence for the student on the transformation that turns the right answers into theirs, or None; of one that
    turns the answers of a collected mistake into them, that mistake, with both sentences.

    `subject`: the student's code, which is asked again before anything general is said of it; None if it can't be.
    `known`: the collected mistakes that may be named, all of the exercise's if it is not given.
    """
    failed = [finding for finding in findings if finding.failed]
    core = [reply for finding in failed if finding.check.core for reply in finding.failed if is_value(reply)]
    if not core:
        return _properties(failed, Evidence(exercise, Replies([], [], reference), subject))
    ordinary = [finding for finding in findings if finding.check.core and finding.check.name != PARAMETERS]
    passed = [r for f in ordinary for r in f.answers if r.difference is None and is_value(r)]
    shown = [f.shrunk for f in failed if f.check.core and f.shrunk is not None and is_value(f.shrunk)]
    known = known_answers(exercise) if known is None else known
    # it must be true of the example beside it, too
    evidence = Evidence(exercise, Replies([*core, *shown], passed, reference), subject, known)
    if named := _of_parameters(core):
        return named
    if stopped := evidence.spoken(_stopped):
        return " ".join(filter(None, (sentence(stopped), condition(findings, evidence, stops=True))))
    if explanation := _transformed(evidence) or _of_several(evidence):
        return f"{explanation}{_besides(evidence)}" if isinstance(explanation, str) else explanation
    names_of = partial(_names_of, reference)
    found = influence_of(evidence, findings, names_of) or condition(findings, evidence)
    others = [reply for one in failed if not one.check.core and one.check.property in OF_VALUES
              for reply in one.failed if _is_of_same(reply, core)]  # fmt: skip
    return found or evidence.spoken(lambda seen: fact(seen.wrong, names_of, others)) or _by_symbol(evidence)


def _besides(evidence: Evidence) -> str:
    """What is wrong with the form of every answer, where the values were compared whatever their form; else ""."""
    told = evidence.spoken(_of_wrong_form) and _of_wrong_form(evidence.at_hand)
    return f" {told}" if told else ""


def _of_wrong_form(seen: Replies) -> str | None:
    found = [_wrong_form(reply) for reply in sorted(seen.wrong, key=size_of)]
    if None in found:
        return None
    return say("Besides, the shape or type of your result is wrong: {message}.", message=found[0])


def _wrong_form(reply: Reply) -> str | None:
    """How the form of an answer differs from the right one, where only axes of size 1 or the type of numbers do."""
    loose = loosen_form(reply.expected, reply.actual)
    if type(reply.actual) is not type(reply.expected) or compare_form(reply.expected, loose) is not None:
        return None
    difference = compare_form(reply.expected, reply.actual)
    return None if difference is None else difference.message


def _is_of_same(reply: Reply, core: Sequence[Reply]) -> bool:
    """Whether it is an answer of the same function, or methods, as these, and no error."""
    return is_value(reply) and not isinstance(reply.actual, RaisedError) and name_of(reply) in map(name_of, core)


def _transformed(evidence: Evidence) -> str | None:
    """What turns the right answers into the student's."""
    return next((told for rule in TRANSFORMATIONS if (told := evidence.spoken(rule))), None)


def _explained(evidence: Evidence, symbol: str) -> str | None:
    """What turns the right answers of one symbol into the student's, or which part of them is right."""
    rules = (*TRANSFORMATIONS, _of_entries)
    return next((told for rule in rules if (told := evidence.spoken(rule, symbol))), None)


def _of_several(evidence: Evidence) -> Misconception | str | None:
    """What is true of the entries of each answer, and the change of a right answer that gives them all; without one,
    a collected mistake with what is wrong besides, since one change is likelier than two."""
    at_hand = evidence.at_hand
    mutation = explain_by_mutation(at_hand.wrong, evidence.exercise, at_hand.right, evidence.all)
    if mutation is None and (found := SecondMistakeSearch(evidence).find((_of_order, *TRANSFORMATIONS[1:]))):
        return found
    seen = evidence.spoken(_of_entries) or evidence.spoken(lambda seen: of_rows(seen.wrong) or of_sequence(seen.wrong))
    return " ".join(filter(None, (seen, mutation))) or None


def _by_symbol(evidence: Evidence) -> str | None:
    """What is wrong with the first of several symbols of which something is known: each may have its own mistake."""
    symbols = list(dict.fromkeys(map(name_of, evidence.at_hand.wrong)))
    for symbol in symbols if len(symbols) > 1 else ():
        stopped = evidence.spoken(_stopped, symbol)
        if explanation := stopped or _explained(evidence, symbol) or evidence.spoken(_of_answers, symbol):
            return say("In `{symbol}`: {explanation}", symbol=symbol, explanation=explanation)
    return None


def _of_answers(seen: Replies) -> str | None:
    """What is true of the entries of these answers."""
    return of_rows(seen.wrong) or of_sequence(seen.wrong) or fact(seen.wrong, partial(_names_of, seen.reference))


def _names_of(reference: LocalSubject, reply: Reply) -> list[str]:
    return parameters_of(reply.probe.case, reference)


def influence_of(evidence: Evidence, findings: Sequence[Finding], names_of: NamesOf) -> str | None:
    """What the gradients say, if those at fresh questions say so too."""
    if influence(findings, names_of) is None:
        return None
    fresh = evidence.fresh("gradients")
    several = sum(len(finding.failed) for finding in fresh) >= FEWEST_WRONG
    return influence([*findings, *fresh], names_of) if several else None


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
    if all(values_agree(reply.expected, reply.actual, reply.probe.tolerance) for reply in core):
        return say(PROPERTY_SENTENCES["shapes"], message=_message(core))
    return _of_order(seen)


def _of_order(seen: Replies) -> str | None:
    if all(isinstance(reply.expected, tuple) and _swapped(reply) for reply in seen.wrong):
        return say("Your results are right, but in the wrong order.")
    return None


def _of_scores(seen: Replies) -> str | None:
    return of_scores(seen.wrong, seen.right)


def _number(reply: Reply) -> bool:
    return isinstance(reply.expected, int | float) and isinstance(reply.actual, int | float)


def _swapped(reply: Reply) -> bool:
    expected, actual = reply.expected, reply.actual
    return isinstance(actual, tuple) and len(actual) > 1 and agree(expected[::-1], actual, reply.probe.tolerance)


def _of_output(seen: Replies) -> str | None:
    core = seen.wrong
    pairs = [tensors(reply) for reply in core]
    if any(pair is None for pair in pairs) or len(core) < MIN_QUESTIONS:
        return None
    for name, transform in OUTPUT:
        if all(_alike(reply, transform, pair) for reply, pair in zip(core, pairs, strict=True)):
            if any(_changes(reply, transform) for reply in seen.right):
                return None  # it would have changed answers that are right
            return _of_one(core, say(name))
    return _factor(seen, pairs)


def _of_one(core: Sequence[Reply], how: str) -> str:
    """How the result follows from the right one; of several results, which of them does."""
    which = {wrong_result(reply) for reply in core}
    if which == {""}:
        return say("Your result is the right one {how}.", how=how)
    (name,) = which if len(which) == 1 else {None}
    if name is None:
        return say("One of your results is the right one {how}.", how=how)
    return say("Of your results, {which} is the right one {how}.", which=name, how=how)


def _alike(reply: Reply, transform: Callable[[Tensor], Tensor], pair: tuple[Tensor, Tensor] | None) -> bool:
    assert pair is not None
    made = _made(pair[0], transform)
    if made is None or made.shape != pair[1].shape:
        return False
    same = values_agree(made, pair[1], reply.probe.tolerance)
    differs = made.shape != pair[0].shape or not values_agree(pair[0], made, reply.probe.tolerance)
    return same and differs  # a truth squared has another type, and is the same


def _changes(reply: Reply, transform: Callable[[Tensor], Tensor]) -> bool:
    """Whether the transformation makes another answer of a right one; if it is several tensors, of each of them."""
    parts = reply.expected if isinstance(reply.expected, tuple) else (reply.expected,)
    made = [(part, _made(part, transform)) for part in parts if isinstance(part, Tensor)]
    known = [(part, other) for part, other in made if other is not None]
    return bool(known) and not any(agree(part, other, reply.probe.tolerance) for part, other in known)


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
    sizes = [_sizes(reply, seen.reference) for reply in (*seen.wrong, *kept)]
    for name in _varied(sizes[: len(seen.wrong)]):
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


def _varied(sizes: Sequence[dict[str, int]]) -> list[str]:
    """The sizes that are not the same in all of these questions: only of them a relation can be told."""
    return [name for name in sizes[0] if len({one.get(name) for one in sizes}) > 1]


POWERS = ((1.0, "times"), (-1.0, "divided by"), (0.5, "times the square root of"),
          (-0.5, "divided by the square root of"), (2.0, "times the square of"))  # fmt: skip


def _ratio(expected: Tensor, actual: Tensor) -> float | None:
    if expected.shape != actual.shape or expected.dtype is torch.bool or expected.is_complex() or not expected.numel():
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


def _sizes(reply: Reply, reference: LocalSubject) -> dict[str, int]:
    """The sizes in a question by name: the axes of its tensors, and its integers."""
    case = reply.probe.case
    named = {**dict(zip(parameters_of(case, reference), case.args, strict=False)), **case.kwargs}
    sizes: dict[str, int] = {}
    for name, value in ((f"`{name}`", value) for name, value in named.items()):
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
    first = sorted(seen.wrong, key=size_of)
    for name, change in _other_arguments(first[0], seen.reference):
        if _explains(change, first, seen):
            return say("Your result is the right one for other arguments: {change}.", change=_surely(name, first, seen))
    return None


def _explains(change: Change, first: Sequence[Reply], seen: Replies) -> bool:
    """Whether the right answers to the changed questions are the student's, and right where these are."""
    return all(_answers(reply, change, seen.reference) for reply in first) and all(
        _answers(reply, change, seen.reference) is not False for reply in seen.right if _is_plain(reply, seen)
    )


def _surely(name: str, first: Sequence[Reply], seen: Replies) -> str:
    """The words for a change of a whole number, or those for all changes in its direction where these answers do not
    tell which: 4 smaller by two is 4 halved, and rounding hides how much is missing of a small number."""
    names = parameters_of(first[0].probe.case, seen.reference)
    for index in range(len(first[0].probe.case.args)):
        values = [reply.probe.case.args[index] for reply in first if index < len(reply.probe.case.args)]
        for label, changes in DIRECTIONS if all(type(one) is int for one in values) else ():
            told = {say(words).format(f"`{names[index]}`"): change for words, change in changes.items()}
            others = [_at(index, change) for words, change in told.items() if words != name]
            halved = name == say(HALVED).format(f"`{names[index]}`") and max(values) < LEAST_HALVED
            if name in told and (halved or any(_explains(one, first, seen) for one in others)):
                return say(label).format(f"`{names[index]}`")
    return name


def _of_whole(edit: Callable[[int], int]) -> Callable[[Any], int]:
    """The edit of a whole number; of anything else it raises TypeError."""

    def only(value: Any) -> int:
        if type(value) is not int:
            raise TypeError("no whole number")
        return edit(value)

    return only


HALVED, LEAST_HALVED = "as if {} were half as large", 8
# the changes of a whole number that can be told apart only where it is large enough
DIRECTIONS: tuple[tuple[str, dict[str, Callable[[Any], Any]]], ...] = (
    ("as if {} were smaller", {
        "as if {} were smaller by one": _of_whole(lambda value: value - 1),
        "as if {} were smaller by two": _of_whole(lambda value: value - 2),
        HALVED: _of_whole(lambda value: value // 2),
    }),
    ("as if {} were larger", {
        "as if {} were larger by one": _of_whole(lambda value: value + 1),
        "as if {} were larger by two": _of_whole(lambda value: value + 2),
        "as if {} were twice as large": _of_whole(lambda value: value * 2),
    }),
)  # fmt: skip


def _other_arguments(reply: Reply, reference: LocalSubject) -> Iterator[tuple[str, Change]]:
    names = parameters_of(reply.probe.case, reference)
    for index, value in enumerate(reply.probe.case.args):
        name = f"`{names[index]}`"
        for label, change in CHANGES:
            yield say(label).format(name), _at(index, change)
        for other in range(index):
            if isinstance(value, Tensor):
                pair = {"first": f"`{names[other]}`", "second": name}
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
    ("as if the first entry of {} along axis 0 were used for all", lambda value: value[:1].expand_as(value)),
    ("as if {} were larger by one", lambda value: value + 1),
    ("as if {} were smaller by one", lambda value: value - 1),
    ("as if {} were larger by two", _of_whole(lambda value: value + 2)),
    ("as if {} were smaller by two", _of_whole(lambda value: value - 2)),
    ("as if {} were twice as large", lambda value: value * 2),
    (HALVED, lambda value: value // 2 if isinstance(value, int) else value / 2),
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
    return values_agree(made, reply.actual, reply.probe.tolerance)


TRANSFORMATIONS = (_of_form, _of_output, _of_scores, _of_input)


def _of_entries(seen: Replies) -> str | None:
    """Which entries are right, where there is a rule for it: one row, one column, one side of the diagonal."""
    core = seen.wrong
    if len(core) < MIN_QUESTIONS:
        return None
    pairs = [(reply, tensors(reply)) for reply in core]
    if any(pair is None or _is_nested(reply) for reply, pair in pairs):
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


def _is_nested(reply: Reply) -> bool:
    """Whether the part that differs is a list of lists or pairs, which has no axes."""
    part = differing(reply.expected, reply.actual, reply.probe.tolerance)[0]
    return isinstance(part, list) and any(isinstance(one, list | tuple) for one in part)


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
    ("only the first entry along axis 0 is right", lambda wrong: _only(wrong[0], wrong[1:].flatten(1).any(1))),
    ("only the last entry along axis 0 is right", lambda wrong: _only(wrong[-1], wrong[:-1].flatten(1).any(1))),
)


def _properties(failed: Sequence[Finding], evidence: Evidence) -> str | None:
    """The properties that fail although ordinary values are right; nothing unless they are at fresh questions, too."""
    fresh = evidence.fresh()
    if not fresh or any(finding.failed for finding in fresh):
        return None
    first = {finding.check.property: finding for finding in reversed(failed)}
    name = next((name for name in PROPERTY_SENTENCES if name in first), None)
    if name is None:
        return None
    text = NAN_GRADIENTS if name == "gradients" and _has_nan(first[name]) else PROPERTY_SENTENCES[name]
    # a layout in memory that stops the code is no dtype
    text = PROPERTY_SENTENCES["values"] if first[name].check.name == LAYOUT else text
    return say(text, message=first[name].message, check=say(first[name].check.name)).replace("..", ".")


def _has_nan(finding: Finding) -> bool:
    """Whether a wrong answer to the check holds NaN where the right one does not."""
    nan = lambda value: any(
        one.isnan().any() for one in tree_leaves(value) if isinstance(one, Tensor) and one.is_floating_point()
    )
    return any(nan(reply.actual) and not nan(reply.expected) for reply in finding.failed)


NAN_GRADIENTS = "Your values are right, but their gradients are not numbers: {message}."
PROPERTY_SENTENCES: dict[str | None, str] = {  # who changes an input has wrong gradients, too
    "purity": "Your values are right, but the call has side effects: {message}.",
    "shapes": "Your values are right, but their shape or type is not: {message}.",
    "dtypes": "Your values are right, but the dtype that you compute in or return is not: {message}.",
    "gradients": (
        "Your values are right, but their gradients are not; look for what is detached, rounded or computed outside "
        "torch: {message}."
    ),
    "edges": "Your values are right, except in an edge case: {message}.",
    "cost": "Your values are right, but they take too much time or memory: {message}.",
    "values": "Your ordinary values are right, but not those of the check “{check}”: {message}.",
}


def _message(core: Sequence[Reply]) -> str:
    difference = core[0].difference
    return difference.message if difference else ""
