"""Finds several known mistakes in one answer: edits of one right answer that together behave like the student's."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.api import SEPARATOR
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit
from autograder.exercises.answers import Answer, EditedAnswer
from autograder.exercises.edits import apply_replacements, compatible

if TYPE_CHECKING:
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Answer as Reply

MAX_SETS = 200  # tried for one answer: a number, so that a busy machine finds the same, and gives the same points
SECONDS = 8.0  # processor time for all of them, which only sets that hardly end reach
SET_S = 5.0  # processor time for one set
MAX_WITNESSES = 12  # failed answers that are used to find the likely mistakes
MAX_FOR_TRIPLES = 9  # the number of likeliest mistakes that are tried in threes


@dataclass(frozen=True)
class CombinedMistakes:
    """Several mistakes made together in one base."""

    parts: tuple[EditedAnswer, ...]

    @property
    def stem(self) -> str:
        """The names of all mistakes, as in a verdict."""
        return SEPARATOR.join(part.stem for part in self.parts)

    def read_text(self) -> str:
        """The code, which has no sentence for the student."""
        every = [one for part in self.parts for one in part.replacements]
        return apply_replacements(self.parts[0].base.read_text(encoding="utf-8"), every)


def find_combination(
    known: Sequence[Answer], replies: Sequence[Reply], seconds: float = SECONDS, sizes: Sequence[int] = (2, 3)
) -> CombinedMistakes | None:
    """The fewest known mistakes that together give all of these answers; None if none are found in time.

    Mistakes that agree with most failed answers by themselves are tried first, so the time goes to the likely ones.
    """
    edits = [one for one in known if isinstance(one, EditedAnswer)]
    ordered = _ordered(replies)
    if len(edits) < 2 or not ordered or ordered[0].difference is None:
        return None
    end = time.thread_time() + seconds
    agreed = {one.stem: _agreements(one, ordered[:MAX_WITNESSES]) for one in edits}
    likeliest_first = (parts for size in sizes for parts in _sets(edits, agreed, size))
    for parts in itertools.islice(likeliest_first, MAX_SETS):
        if time.thread_time() > end:
            return None
        together = CombinedMistakes(parts)
        if agrees(together, ordered):
            return together
    return None


def agrees(one: CombinedMistakes | Answer, replies: Sequence[Reply]) -> bool:
    """Whether this code gives all of these answers; False for code that fails or does not end."""
    try:
        with time_limit(SET_S):
            subject = _subject(one)
            return all(_same(subject, reply) for reply in replies)
    except (Exception, TimeLimitExceeded):  # these lines do not work together, so no student submitted them
        return False


def _ordered(replies: Sequence[Reply]) -> list[Reply]:
    """Failed answers first, one of each kind of probe in turn, small inputs before large ones."""
    by_name: dict[str, list[Reply]] = defaultdict(list)
    for reply in sorted(replies, key=lambda reply: reply.probe.case.size()):
        by_name[reply.probe.case.symbol if reply.difference is None else reply.difference.message[:12]].append(reply)
    turns = [one for group in itertools.zip_longest(*by_name.values()) for one in group if one is not None]
    return sorted(turns, key=lambda reply: reply.difference is None)


def _agreements(one: EditedAnswer, replies: Sequence[Reply]) -> int:
    failed = [reply for reply in replies if reply.difference is not None]
    subject = _subject(one)
    return sum(_same(subject, reply) for reply in failed)


def _sets(edits: Sequence[EditedAnswer], agreed: dict[str, int], size: int) -> Iterator[tuple[EditedAnswer, ...]]:
    """Sets of `size` compatible mistakes of one base, the likeliest first."""
    likely = sorted(edits, key=lambda one: -agreed[one.stem])
    if size > 2:
        likely = likely[:MAX_FOR_TRIPLES]
    sets = [parts for parts in itertools.combinations(likely, size) if fit(parts)]
    yield from sorted(sets, key=lambda parts: -sum(agreed[part.stem] for part in parts))


def fit(parts: Sequence[EditedAnswer]) -> bool:
    """Whether these can be made in one answer: they have one base, and no two change the same line."""
    pairs = itertools.combinations(parts, 2)
    return all(one.base == other.base and compatible(one.replacements, other.replacements) for one, other in pairs)


def _subject(one: CombinedMistakes | Answer) -> LocalSubject:
    from autograder.checks.local import LocalSubject

    return LocalSubject.from_source(one.read_text())


def _same(subject: LocalSubject, reply: Reply) -> bool:
    from autograder.checks.probe import NotRun, behaves_like, observe

    try:
        actual = observe(subject, reply.probe)
    except NotRun:
        return False
    return behaves_like(actual, reply)
