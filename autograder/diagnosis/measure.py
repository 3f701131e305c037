"""Measures how well diagnosis works on two mistakes in one answer, and on mistakes that are not collected."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.answers import EditedAnswer
from autograder.api import Exercise
from autograder.diagnosis.compose import CombinedMistakes, agrees, fit

if TYPE_CHECKING:
    from autograder.checks.probe import Asked, Finding

PAIRS = 6  # per exercise, sampled again for each seed
TRIES = 4 * PAIRS


@dataclass
class DiagnosisReport:
    """The diagnosis of answers with two mistakes, and of mistakes that were hidden from it."""

    exercise: str
    pairs: int = 0
    both_named: int = 0
    one_named: int = 0
    masked: int = 0  # pairs that behave like only one of the two, or like a right answer, so that both cannot be named
    uncollected: int = 0  # mistakes that were hidden
    kinds_found: int = 0  # hidden mistakes for which a kind was found, or that were taken for others
    notes: list[str] = field(default_factory=list)
    complaints = ()
    sound = True

    @property
    def line(self) -> str:
        """One line of the report."""
        return (
            f"{self.exercise:32} two mistakes {self.pairs:3}  both named {_share(self.both_named, self.pairs)}  "
            f"at least one {_share(self.one_named, self.pairs)}  "
            f"(not counted: {self.masked} of which one hides the other)  "
            f"not collected {self.uncollected:3}  "
            f"of which something is said {_share(self.kinds_found, self.uncollected)}"
        )


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole}" + (f" ({100 * part / whole:.0f}%)" if whole else "")


def total(scores: Sequence[DiagnosisReport]) -> DiagnosisReport:
    """The sum over all exercises."""
    whole = DiagnosisReport("all exercises")
    for name in ("pairs", "both_named", "one_named", "masked", "uncollected", "kinds_found"):
        setattr(whole, name, sum(getattr(score, name) for score in scores))
    return whole


def measure_diagnosis(exercise: Exercise, asked: list[Asked], seed: int, every: int = 3) -> DiagnosisReport:
    """Diagnose sampled pairs of compatible mistakes, and each n-th mistake while it is hidden."""
    from autograder.checks.corpus import examine_answer
    from autograder.diagnose import diagnose, known_answers

    score = DiagnosisReport(exercise.id)
    for pair, findings in _pairs(exercise, asked, seed, score):
        found = diagnose(exercise, findings)
        names = set(found.name.split(" + ")) if found else set()
        wanted = {part.stem for part in pair.parts}
        score.pairs, score.both_named = score.pairs + 1, score.both_named + (names == wanted)
        score.one_named += bool(names & wanted)
        score.notes += [f"{pair.stem} is taken for {found.name if found else 'none we know'}"] * (names != wanted)
    known = known_answers(exercise)
    for one in known[seed % every :: every]:
        _left_out(exercise, one.stem, examine_answer(one, asked), [other for other in known if other != one], score)
    return score


def _left_out(exercise: Exercise, name: str, findings: list[Finding], known: list, score: DiagnosisReport) -> None:
    from autograder.checks.reference import reference_of
    from autograder.diagnose import diagnose
    from autograder.diagnosis.kinds import kind

    if not any(finding.failed for finding in findings):
        return
    other = diagnose(exercise, findings, known)
    said = other.name if other else kind(exercise, findings, reference_of(exercise))
    score.uncollected, score.kinds_found = score.uncollected + 1, score.kinds_found + (said is not None)
    score.notes.append(f"{name}, were it not known: {said or 'nothing is said'}")


def _pairs(
    exercise: Exercise, asked: list, seed: int, score: DiagnosisReport
) -> Iterator[tuple[CombinedMistakes, list[Finding]]]:
    """Pairs of mistakes that differ from either mistake alone; the same pairs for the same seed."""
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import collect_answers
    from autograder.diagnose import known_answers

    edits = [one for one in known_answers(exercise) if isinstance(one, EditedAnswer)]
    pairs = [CombinedMistakes(parts) for parts in itertools.combinations(edits, 2) if fit(parts)]
    random.Random(f"{seed}/{exercise.id}").shuffle(pairs)
    given = 0
    for pair in pairs[:TRIES]:
        namespace: dict = {"__name__": "answer"}
        try:
            exec(compile(pair.read_text(), f"{pair.stem}.py", "exec", dont_inherit=True), namespace)
        except Exception:  # the two changes do not work together
            continue
        findings = collect_answers(asked, LocalSubject(namespace))
        replies = [reply for finding in findings if finding.failed for reply in finding.answers]
        if not replies or any(agrees(part, replies) for part in pair.parts):
            score.masked += 1
            continue
        yield pair, findings
        given += 1
        if given == PAIRS:
            return
