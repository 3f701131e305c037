"""Finds several known mistakes in one answer: edits of right answers that together behave like the student's.

Two edits of one right answer are made together, in one line as well. An edit of another one is made where its lines
stand in this one too, with variables that may be called otherwise.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autograder.api import SEPARATOR
from autograder.diagnosis.limit import TimeLimitExceeded, repeated_time_limit, time_limit
from autograder.exercises.answers import Answer, EditedAnswer
from autograder.exercises.edits import apply_replacements, compatible
from autograder.exercises.merge import CannotMerge, merge_sources
from autograder.exercises.repair import repairs

if TYPE_CHECKING:
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Answer as Reply
    from autograder.diagnosis.budget import ComputeBudget

MAX_SETS = 200  # tried for one answer: a number, so that a busy machine finds the same, and gives the same points
MAX_MERGED = 120  # of the pairs that the lines of one base can't have together
MAX_UNITS = 60_000  # of all sets together
SET_S = 5.0  # processor time for one set, which only code that hardly ends reaches
FEWEST_WITNESSES, MAX_WITNESSES = 3, 12  # failed answers that are used to find the likely mistakes
SHARE_FOR_RANKING = 0.4  # of the units
MAX_FOR_TRIPLES = 9  # the number of likeliest mistakes that are tried in threes


@dataclass(frozen=True)
class CombinedMistakes:
    """Several mistakes made together, in the base of the first."""

    parts: tuple[EditedAnswer, ...]

    @property
    def stem(self) -> str:
        """The names of all mistakes, as in a verdict."""
        return SEPARATOR.join(part.stem for part in self.parts)

    @property
    def can_be_made(self) -> bool:
        """Whether there is a program with all of them."""
        return are_compatible(self.parts) or merged_source(self.parts) is not None

    def read_text(self) -> str:
        """The code, which has no sentence for the student. Raises CannotMerge where it can't be made."""
        base = self.parts[0].base.read_text(encoding="utf-8")
        if are_compatible(self.parts):
            return apply_replacements(base, [one for part in self.parts for one in part.replacements])
        if (text := merged_source(self.parts)) is None:
            raise CannotMerge(f"{self.stem}: these edits make no program together")
        return text


@lru_cache(maxsize=4096)
def merged_source(parts: tuple[EditedAnswer, ...]) -> str | None:
    """The code of edits that change the same lines, or lines of different right answers; None if it can't be made."""
    text = parts[0].read_text()
    for part in parts[1:]:
        base = part.base.read_text(encoding="utf-8")
        made = merge_sources(base, text, part.read_text()) if part.base == parts[0].base else None
        made = made or next(repairs(text, right=part.read_text(), wrong=base), None)
        if made is None:
            return None
        text = made
    return text


def find_combination(
    known: Sequence[Answer], replies: Sequence[Reply], budget: ComputeBudget, sizes: Sequence[int] = (2, 3)
) -> CombinedMistakes | None:
    """The fewest known mistakes that together give all of these answers; None if none are found within the budget.

    Mistakes that agree with most failed answers by themselves are tried first, so that it is spent on the likely ones.
    """
    edits = [one for one in known if isinstance(one, EditedAnswer)]
    ordered = _ordered(replies)
    if len(edits) < 2 or not ordered or ordered[0].difference is None:
        return None
    witnesses = _witnesses(ordered, len(edits), budget)
    agreed = {one.stem: sum(_same(one, reply, budget) for reply in witnesses) for one in edits}
    likeliest_first = (parts for size in sizes for parts in _sets(edits, agreed, size))
    with repeated_time_limit(SET_S) as limited:
        for parts in itertools.islice(likeliest_first, MAX_SETS):
            if not budget.may_go_on:
                return None
            if agrees(CombinedMistakes(parts), ordered, budget, limited):
                return CombinedMistakes(parts)
    return None


def _witnesses(ordered: Sequence[Reply], edits: int, budget: ComputeBudget) -> list[Reply]:
    """The failed answers of which each mistake is asked whether it gives them: few where a call is expensive."""
    failed = [reply for reply in ordered if reply.difference is not None]
    affordable = SHARE_FOR_RANKING * budget.left / (edits * budget.units_of_call)
    return failed[: max(FEWEST_WITNESSES, min(int(affordable), MAX_WITNESSES))]


def agrees(
    one: CombinedMistakes | Answer, replies: Sequence[Reply], budget: ComputeBudget | None = None,
    limited: Callable[[], AbstractContextManager[None]] = lambda: time_limit(SET_S),
) -> bool:  # fmt: skip
    """Whether this code gives all of these answers; False for code that fails or does not end."""
    try:
        with limited():
            return all(_same(one, reply, budget) for reply in replies)
    except (Exception, TimeLimitExceeded):  # these lines do not work together, so no student submitted them
        return False


def _ordered(replies: Sequence[Reply]) -> list[Reply]:
    """Failed answers first, one of each kind of probe in turn, small inputs before large ones."""
    by_name: dict[str, list[Reply]] = defaultdict(list)
    for reply in sorted(replies, key=lambda reply: reply.probe.case.size()):
        by_name[reply.probe.case.symbol if reply.difference is None else reply.difference.message[:12]].append(reply)
    turns = [one for group in itertools.zip_longest(*by_name.values()) for one in group if one is not None]
    return sorted(turns, key=lambda reply: reply.difference is None)


def _sets(edits: Sequence[EditedAnswer], agreed: dict[str, int], size: int) -> Iterator[tuple[EditedAnswer, ...]]:
    """Sets of `size` mistakes that the lines of one base can have together, the likeliest first."""
    likely = sorted(edits, key=lambda one: -agreed[one.stem])
    if size > 2:
        likely = likely[:MAX_FOR_TRIPLES]
    sets = [parts for parts in itertools.combinations(likely, size) if are_compatible(parts)]
    yield from sorted(sets, key=lambda parts: -sum(agreed[part.stem] for part in parts))


def merged_pairs(
    likeliest_first: Sequence[Answer], may_go_on: Callable[[Sequence[EditedAnswer]], bool]
) -> Iterator[CombinedMistakes]:
    """Pairs that change the same lines, or lines of different bases, as far as their code can be put together; until
    a pair may not be tried any more."""
    edits = [one for one in likeliest_first if isinstance(one, EditedAnswer)]
    places = itertools.combinations(range(len(edits)), 2)
    pairs = (tuple(edits[at] for at in pair) for pair in sorted(places, key=sum))
    tried = itertools.takewhile(may_go_on, (parts for parts in pairs if not are_compatible(parts)))
    made = (parts for parts in tried if merged_source(parts) is not None)
    return map(CombinedMistakes, itertools.islice(made, MAX_MERGED))


def are_compatible(parts: Sequence[EditedAnswer]) -> bool:
    """Whether the lines of one base can have these together: no two change the same one."""
    pairs = itertools.combinations(parts, 2)
    return all(one.base == other.base and compatible(one.replacements, other.replacements) for one, other in pairs)


@lru_cache(maxsize=512)
def subject_of(one: CombinedMistakes | Answer) -> LocalSubject:
    """One of our own answers, or several mistakes in one, in this process; its loops end. Raises whatever its code
    raises when it runs."""
    from autograder.diagnosis.loops import CountedProgram

    return CountedProgram(one.read_text(), "answer.py" if isinstance(one, CombinedMistakes) else one.name)


def answer_of_known(one: CombinedMistakes | Answer, reply: Reply) -> Any:
    """What it answers to the question, which it is asked once; None where it can't be asked."""
    from autograder.checks.probe import NotRun, observe_once

    try:
        return observe_once(one, lambda: subject_of(one), reply.probe)
    except NotRun:
        return None


def _same(one: CombinedMistakes | Answer, reply: Reply, budget: ComputeBudget | None) -> bool:
    from autograder.checks.probe import NotRun, behaves_like, observe_once

    if budget is not None:
        budget.spend_call_of(one, reply.probe)
    try:
        actual = observe_once(one, lambda: subject_of(one), reply.probe)
    except NotRun:
        return False
    return behaves_like(actual, reply)
