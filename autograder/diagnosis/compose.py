"""Several known mistakes in one answer: edits of one right answer, made together, that answer as the student does."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.answers import Answer, EditedAnswer
from autograder.diagnosis.edits import apply_replacements, compatible
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit

if TYPE_CHECKING:
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Answer as Reply

SECONDS = 1.5  # of the processor, for all sets of mistakes together
EACH = 5.0  # of the clock, for one
WITNESSES = 12  # failed answers by which the likely mistakes are found
OF_THREE = 9  # the likeliest mistakes, of which three are tried together


@dataclass(frozen=True)
class CombinedMistakes:
    """Mistakes in one base, all of them made."""

    parts: tuple[EditedAnswer, ...]

    @property
    def stem(self) -> str:
        """The names of all, as a verdict has them."""
        return " + ".join(part.stem for part in self.parts)

    def read_text(self) -> str:
        """The code; it has no sentence of its own."""
        every = [one for part in self.parts for one in part.replacements]
        return apply_replacements(self.parts[0].base.read_text(encoding="utf-8"), every)


def find_combination(
    known: Sequence[Answer], replies: Sequence[Reply], seconds: float = SECONDS, sizes: Sequence[int] = (2, 3)
) -> CombinedMistakes | None:
    """The fewest known mistakes that together give every one of these answers; None where none are found in time.

    Those that agree with most failed answers alone are tried first, so the budget is spent on the likely ones.
    """
    edits = [one for one in known if isinstance(one, EditedAnswer)]
    ordered = _ordered(replies)
    if len(edits) < 2 or not ordered or ordered[0].difference is None:
        return None
    end = time.thread_time() + seconds
    agreed = {one.stem: _agreements(one, ordered[:WITNESSES]) for one in edits}
    for size in sizes:
        for parts in _sets(edits, agreed, size):
            if time.thread_time() > end:
                return None
            together = CombinedMistakes(parts)
            if agrees(together, ordered):
                return together
    return None


def agrees(one: CombinedMistakes | Answer, replies: Sequence[Reply]) -> bool:
    """Whether this code gives all of these answers; code that does not run or does not end gives none."""
    try:
        with time_limit(EACH):
            subject = _subject(one)
            return all(_same(subject, reply) for reply in replies)
    except (Exception, TimeLimitExceeded):  # lines that cannot stand in one answer: nobody handed that in
        return False


def _ordered(replies: Sequence[Reply]) -> list[Reply]:
    """What failed first, a failed answer of each kind of probe in turn, small inputs before large ones."""
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
    """Compatible mistakes of one base, the likeliest first."""
    likely = sorted(edits, key=lambda one: -agreed[one.stem])
    if size > 2:
        likely = likely[:OF_THREE]
    sets = [parts for parts in itertools.combinations(likely, size) if fit(parts)]
    yield from sorted(sets, key=lambda parts: -sum(agreed[part.stem] for part in parts))


def fit(parts: Sequence[EditedAnswer]) -> bool:
    """Whether these can be made in one answer: of one base, no two on one line."""
    pairs = itertools.combinations(parts, 2)
    return all(one.base == other.base and compatible(one.replacements, other.replacements) for one, other in pairs)


def _subject(one: CombinedMistakes | Answer) -> LocalSubject:
    from autograder.checks.local import LocalSubject

    namespace: dict[str, Any] = {"__name__": "answer"}
    exec(compile(one.read_text(), "answer.py", "exec", dont_inherit=True), namespace)
    return LocalSubject(namespace)


def _same(subject: LocalSubject, reply: Reply) -> bool:
    from autograder.checks.compare import compare
    from autograder.checks.probe import NotRun, observe

    try:
        actual = observe(subject, reply.probe)
    except NotRun:
        return False
    return compare(actual, reply.actual, reply.probe.tolerance) is None
