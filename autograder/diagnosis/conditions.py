"""Where an answer is wrong, and where right: the one thing that all failed questions have, and no passed one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING

from torch import Tensor

from autograder.checks.compare import compare
from autograder.checks.probe import FATAL, Answer, Finding, is_crash, observe
from autograder.checks.reference import parameters_of
from autograder.checks.shrink import simpler_questions
from autograder.diagnosis.budget import ComputeBudget
from autograder.diagnosis.compose import subject_of
from autograder.diagnosis.evidence import CALLS_OF_QUESTION, Evidence, is_value, name_of
from autograder.exercises.answers import answers
from autograder.feedback.translate import say

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply

MIN_CASES = 3  # failed and passed ones: of dozens of features, some part fewer by chance
VARIANTS, MAX_UNITS = 12, 30_000  # questions with other sizes, and what they may cost
ONE, SEVERAL = "where {name} has one entry along axis {axis}", "where {name} has several entries along axis {axis}"
SAME = "where {one} and {other} have the same size along axis {axis}"
DIFFERENT = "where {one} and {other} have different sizes along axis {axis}"
Features = dict[str, None]  # the words for what is true of a question, the more telling first


def condition(findings: Sequence[Finding], evidence: Evidence, stops: bool = False) -> str | None:
    """What the failed questions have in common and the passed ones don't, those about edge cases included.

    In the generated questions several things may always come together, such as a mask and a batch of two. So it must
    also be true of fresh questions, and of these with other sizes. `stops`: of the questions at which the code raises.
    """
    checked = [f for f in findings if f.check.property in ("values", "edges")]
    replies = [reply for f in checked for reply in f.answers if is_value(reply)] + list(evidence.at_hand.wrong)
    known = {name_of(reply): parameters_of(reply.probe.case, evidence.at_hand.reference) for reply in replies}
    fails = _stops if stops else _differs
    if not shared_features(replies, known, fails) or evidence.all() is None:
        return None
    fresh = [reply for finding in evidence.fresh() for reply in finding.answers]
    shared = shared_features([*replies, *fresh], known, fails)
    if shared:
        replies += [*fresh, *islice(_with_other_sizes(fresh, evidence), VARIANTS)]
        shared = shared_features(replies, known, fails)
    if not shared:
        return None
    text = "It stops {where}, and only there." if stops else "Your answer is wrong {where}, and right in other cases."
    return say(text, where=shared[0])


def _differs(reply: Reply) -> bool:
    return reply.difference is not None


def _stops(reply: Reply) -> bool:
    return reply.difference is not None and is_crash(reply)


def shared_features(
    replies: Sequence[Reply], names: dict[str, list[str]], fails: Callable[[Reply], bool] = _differs
) -> list[str]:
    """What is true of all the answers that fail and of no other of the same function; none if there are few of either.
    Answers of another function have other arguments, whatever is wrong."""
    asked = {name_of(reply) for reply in replies if fails(reply)}
    failed = [_features(reply, names) for reply in replies if fails(reply)]
    passed = [_features(reply, names) for reply in replies if not fails(reply) and name_of(reply) in asked]
    if min(len(failed), len(passed)) < MIN_CASES:
        return []
    return [one for one in failed[0] if all(one in other for other in failed) and not any(one in p for p in passed)]


def _features(reply: Reply, names: dict[str, list[str]]) -> Features:
    case = reply.probe.case
    found: Features = {}
    known = names[name_of(reply)]
    named = {f"`{name}`": value for name, value in zip(known, case.args, strict=False)}
    for name, value in named.items():
        found[say("where {name} is not given" if value is None else "where {name} is given", name=name)] = None
        if isinstance(value, Tensor) and str(value.dtype) == "torch.bool" and not value.all():
            found[say("where {name} masks something", name=name)] = None
    plain = {**named, **{f"`{key}`": value for key, value in case.kwargs.items()}}
    for name, value in plain.items():
        if isinstance(value, bool | int | float | str):
            found[say("where {name} is {value}", name=name, value=repr(value))] = None
    tensors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
    found.update(_of_sizes(tensors))
    return found


def _of_sizes(tensors: dict[str, Tensor]) -> Features:
    """The sizes that are the same in two arguments, the numbers of axes, and which axes have one entry."""
    found: Features = {}
    for (one, first), (other, second) in combinations(tensors.items(), 2):
        if first.dim() == second.dim():
            for axis, pair in enumerate(zip(first.shape, second.shape, strict=True)):
                found[say(SAME if pair[0] == pair[1] else DIFFERENT, one=one, other=other, axis=axis)] = None
    for name, value in tensors.items():
        found[say("where {name} has {count} axes", name=name, count=value.dim())] = None
    for name, value in tensors.items():
        for axis, size in enumerate(value.shape):
            found[say(ONE if size == 1 else SEVERAL, name=name, axis=axis)] = None
    return found


def _with_other_sizes(replies: Sequence[Reply], evidence: Evidence) -> Iterator[Answer]:
    """The student's answers to these questions with some axes cut to one, two or three entries."""
    right = [subject_of(path) for path in answers(evidence.exercise, "right")]
    budget = ComputeBudget(evidence.at_hand.reference, replies[:1], MAX_UNITS)
    for reply in replies:
        made = simpler_questions(reply, evidence.at_hand.reference, right)
        for probe, expected in islice(made, 2):
            actual = observe(evidence.subject, probe)
            if getattr(actual, "kind", None) in FATAL:
                return
            yield Answer(probe, expected, actual, compare(expected, actual, probe.tolerance))
            budget.spend_calls(CALLS_OF_QUESTION + len(right))
            if not budget.may_go_on:
                return
