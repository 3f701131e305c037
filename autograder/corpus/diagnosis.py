"""Measures how well diagnosis works on two mistakes in one answer, and on mistakes that are not collected."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.checks.reference import reference_of
from autograder.corpus.judge import examine_answer
from autograder.diagnosis.compose import CombinedMistakes, agrees, are_compatible, subject_of
from autograder.diagnosis.diagnose import diagnose, known_answers
from autograder.diagnosis.kinds import kind
from autograder.exercises.answers import Answer, EditedAnswer

if TYPE_CHECKING:
    from autograder.checks.probe import Finding, QuestionSet

PAIRS = 6  # per exercise, sampled again for each seed
TRIES = 4 * PAIRS
N_HELD_OUT = 2  # mistakes of each exercise that are held out


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
    held: int = 0  # held out: nobody looks at these while diagnosis is written
    held_kinds: int = 0
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
            f"of which explained {_share(self.kinds_found, self.uncollected)}  "
            f"of those held out {_share(self.held_kinds, self.held)}"
        )


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole}" + (f" ({100 * part / whole:.0f}%)" if whole else "")


def total(scores: Sequence[DiagnosisReport]) -> DiagnosisReport:
    """The sum over all exercises."""
    whole = DiagnosisReport("all exercises")
    for name in ("pairs", "both_named", "one_named", "masked", "uncollected", "kinds_found", "held", "held_kinds"):
        setattr(whole, name, sum(getattr(score, name) for score in scores))
    return whole


def measure_diagnosis(
    exercise: Exercise, question_sets: list[QuestionSet], seed: int, every: int = 3
) -> DiagnosisReport:
    """Diagnose sampled pairs of compatible mistakes, and each n-th mistake while it is hidden."""
    score = DiagnosisReport(exercise.id)
    for pair, findings in _pairs(exercise, question_sets, seed, score):
        found = diagnose(exercise, findings)
        names = set(found.names) if found else set()
        wanted = {part.stem for part in pair.parts}
        score.pairs, score.both_named = score.pairs + 1, score.both_named + (names == wanted)
        score.one_named += bool(names & wanted)
        score.notes += [f"{pair.stem} is taken for {found.name if found else 'no known mistake'}"] * (names != wanted)
    known, held = known_answers(exercise), held_out(exercise)
    shown = [one for one in known if one not in held]
    for one in [*shown[seed % every :: every], *held]:
        others = [other for other in known if other != one]
        explanation = _left_out(exercise, one, examine_answer(one, question_sets), others)
        if explanation is None:
            continue
        if one in held:  # only counted: once their diagnosis was read, they would no longer be held out
            score.held, score.held_kinds = score.held + 1, score.held_kinds + bool(explanation)
        else:
            score.uncollected, score.kinds_found = score.uncollected + 1, score.kinds_found + bool(explanation)
            score.notes.append(f"{one.stem}, if it were not known: {explanation or 'no explanation'}")
    return score


def held_out(exercise: Exercise) -> list[Answer]:
    """Two of the exercise's mistakes, always the same, by which diagnosis is measured and never written."""
    order = {one: hashlib.sha256(f"{exercise.id}/{one.stem}".encode()).hexdigest() for one in known_answers(exercise)}
    return sorted(order, key=order.__getitem__)[:N_HELD_OUT]


def _left_out(exercise: Exercise, one: Answer, findings: list[Finding], known: list[Answer]) -> str | None:
    """The diagnosis of answers whose mistake is not known, "" for none; None if they are right."""
    if not any(finding.failed for finding in findings):
        return None
    other = diagnose(exercise, findings, known)
    return other.name if other else kind(exercise, findings, reference_of(exercise), subject_of(one), known) or ""


def _pairs(
    exercise: Exercise, question_sets: list, seed: int, score: DiagnosisReport
) -> Iterator[tuple[CombinedMistakes, list[Finding]]]:
    """Pairs of mistakes that differ from either mistake alone; the same pairs for the same seed."""
    edits = [one for one in known_answers(exercise) if isinstance(one, EditedAnswer)]
    pairs = [CombinedMistakes(parts) for parts in itertools.combinations(edits, 2) if are_compatible(parts)]
    random.Random(f"{seed}/{exercise.id}").shuffle(pairs)
    given = 0
    for pair in pairs[:TRIES]:
        try:
            subject = LocalSubject.from_source(pair.read_text(), f"{pair.stem}.py")
        except Exception:  # the two changes do not work together
            continue
        findings = collect_answers(question_sets, subject)
        replies = [reply for finding in findings if finding.failed for reply in finding.answers]
        if not replies or any(agrees(part, replies) for part in pair.parts):
            score.masked += 1
            continue
        yield pair, findings
        given += 1
        if given == PAIRS:
            return
