"""Tests the checks on our own right and wrong answers: how many wrong ones are caught, and correctly named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.api import MAX_EDGE_SHARE, Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Finding, QuestionSet, collect_answers, questions
from autograder.checks.reference import reference_of
from autograder.corpus.lines import Lines, measure_answer
from autograder.diagnosis.compose import CombinedMistakes, agrees, subject_of
from autograder.diagnosis.diagnose import (
    Misconception,
    answers_to_compare,
    diagnose,
    diagnose_edge,
    edge_answers,
    known_answers,
    wrong_answers,
)
from autograder.diagnosis.kinds import kind
from autograder.exercises import registry
from autograder.exercises.answers import Answer, EditedAnswer, answers
from autograder.settings import points

SCORE_SHARE_LINE = re.compile(r"^# keeps (\S+) of the points$", re.MULTILINE)  # a line of each answer in edge/
MIN_EDGE_SCORE = 1 - MAX_EDGE_SHARE


@dataclass
class Score:
    """The results for one exercise's answers.

    A wrong answer that gets its own name only shows that no two collected answers behave alike, since it is compared
    with itself. How well names fit other code is measured by rewritten answers, and by leaving each answer out: then
    no name may fit. The exception is a mistake that equals two others together (both masks inverted are the masks of
    a reversed order, exchanged): naming those two is not wrong, and `explained_by_others` counts such answers.
    """

    exercise: str
    right: int = 0
    wrong: int = 0
    rejected: int = 0
    named: int = 0
    rewritten: int = 0
    recognised: int = 0  # of the rewritten answers
    unexplained: int = 0  # of the rewritten answers: neither a name nor a kind is found
    false_alarms: int = 0  # of the right answers: a check fails
    unnamed: int = 0  # of the wrong answers: they get no name when their own is left out
    explained_by_others: int = (
        0  # of the wrong answers: with their own name left out, two or three others together are the same
    )
    at_edges: int = 0  # answers that are wrong only at edges
    edge_shares: list[str] = field(default_factory=list)  # the share of the points that each of those keeps
    complaints: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether every answer was judged correctly."""
        return not self.complaints

    @property
    def line(self) -> str:
        """One line of the report."""
        return (
            f"{self.exercise:32} right {self.right:3}  wrong {self.wrong:3}  rejected {self.rejected}/{self.wrong}  "
            f"named {self.named}/{self.wrong}  rewritten {self.recognised}/{self.rewritten}  "
            f"left out {self.unnamed}/{self.wrong} (others together: {self.explained_by_others})  edge {self.at_edges}"
        )


def combine_scores(scores: Sequence[Score]) -> Score:
    """The sum over all exercises."""
    whole = Score("all exercises")
    for name in (
        "right",
        "wrong",
        "rejected",
        "named",
        "rewritten",
        "recognised",
        "unexplained",
        "false_alarms",
        "unnamed",
        "explained_by_others",
        "at_edges",
    ):
        setattr(whole, name, sum(getattr(score, name) for score in scores))
    return whole


def ask_reference(exercise: Exercise, seed: int) -> list[QuestionSet]:
    """The exercise's questions with the reference's answers, generated once and used for many subjects."""
    checks = registry.check_function(exercise)()
    return list(questions(checks, reference_of(exercise), f"{seed}/{exercise.id}"))


def examine_answer(path: Answer, question_sets: list[QuestionSet]) -> list[Finding]:
    """All checks of one of our own answers, in this process."""
    return collect_answers(question_sets, LocalSubject.from_source(path.read_text(encoding="utf-8"), path.name))


def lines(exercise: Exercise, question_sets: list[QuestionSet]) -> Lines:
    """Which line is reported for each wrong answer that is an edit of a right one."""
    found = Lines()
    for path in wrong_answers(exercise):
        measure_answer(exercise, path, examine_answer(path, question_sets), found)
    return found


def lines_of(scores: Sequence[Lines]) -> Lines:
    """The sum over all exercises."""
    names = ("edits", "near", "exact", "marked", "true")
    return Lines(*(sum(getattr(score, name) for score in scores) for name in names))


def judge(exercise: Exercise, question_sets: list[QuestionSet], *, leave_out: bool = True) -> Score:
    """Judge every answer of the exercise's corpus; misjudged ones are listed in `complaints`.

    With `leave_out` each wrong answer is also diagnosed as if it were unknown (`unnamed`, `explained_by_others`). That
    tries pairs of all other mistakes, which takes several times as long as everything else.
    """
    score = Score(exercise.id)
    for path in answers(exercise, "right"):
        failed = [finding for finding in examine_answer(path, question_sets) if finding.failed]
        score.right, score.false_alarms = score.right + 1, score.false_alarms + bool(failed)
        score.complaints += [f"right/{path.stem} fails {one.check.name}: {one.message}" for one in failed]
    for path in wrong_answers(exercise):
        findings = examine_answer(path, question_sets)
        _judge_wrong(exercise, path, findings, score)
        if leave_out:
            _leave_out(exercise, path, findings, score)
    for path in edge_answers(exercise):
        _judge_edge(exercise, path, examine_answer(path, question_sets), score)
    for path in answers(exercise, "rewritten"):
        _judge_rewritten(exercise, path, examine_answer(path, question_sets), score)
    return score


def _judge_wrong(exercise: Exercise, path: Answer, findings: list[Finding], score: Score) -> None:
    found = diagnose(exercise, findings)
    caught, named = any(finding.failed for finding in findings), found is not None and found.name == path.stem
    score.wrong, score.rejected, score.named = score.wrong + 1, score.rejected + caught, score.named + named
    if not caught:
        score.complaints.append(f"wrong/{path.stem} passes")
    elif not named:
        score.complaints.append(f"wrong/{path.stem} is taken for {_name_of(found)}")


def _judge_rewritten(exercise: Exercise, path: Answer, findings: list[Finding], score: Score) -> None:
    found = diagnose(exercise, findings)
    recognised = found is not None and found.name == path.stem
    score.rewritten, score.recognised = score.rewritten + 1, score.recognised + recognised
    if recognised:
        return
    diagnosis = found.name if found else kind(exercise, findings, reference_of(exercise), subject_of(path))
    score.unexplained += diagnosis is None
    score.notes.append(
        f"rewritten/{path.stem} is taken for {_name_of(found)}" + (f": {diagnosis}" if diagnosis and not found else "")
    )


def _leave_out(exercise: Exercise, path: Answer, findings: list[Finding], score: Score) -> None:
    """Diagnose the answer as if it were not in the corpus."""
    other = diagnose(exercise, findings, [known for known in known_answers(exercise) if known != path])
    score.unnamed += other is None
    score.explained_by_others += other is not None and is_combination(exercise, other, findings)
    score.notes += [f"wrong/{path.stem}, if it were not known, would be taken for {_name_of(other)}"] * (
        other is not None
    )


def is_combination(exercise: Exercise, found: Misconception, findings: Sequence[Finding]) -> bool:
    """Whether `found` is several mistakes that, made together, give the same answer to every graded question."""
    names = found.names
    parts = [known for known in known_answers(exercise) if known.stem in names and isinstance(known, EditedAnswer)]
    if len(parts) != len(names) or len(parts) < 2:
        return False
    replies = [answer for finding in findings if finding.check.graded for answer in answers_to_compare(finding)]
    return agrees(CombinedMistakes(tuple(parts)), replies)


def _judge_edge(exercise: Exercise, path: Answer, findings: list[Finding], score: Score) -> None:
    """Check that an answer differs only at edges, gets its own name, and keeps the share of points that it states."""
    score.at_edges += 1
    counted = [finding for finding in findings if finding.check.graded and not finding.check.not_run]
    worth = points.shares([(finding.check.property, finding.check.weight) for finding in counted], 1.0)
    kept = sum(part for finding, part in zip(counted, worth, strict=True) if not finding.failed)
    score.edge_shares.append(f"edge/{path.stem} keeps {kept * exercise.points:.2f} of {exercise.points:g} points")
    stated = SCORE_SHARE_LINE.search(path.read_text(encoding="utf-8"))
    if stated is None or abs(float(stated[1]) - kept) > 0.005:
        score.complaints.append(f"edge/{path.stem} keeps {kept:.2f} of the points: write that in its `# keeps` line")
    if kept < MIN_EDGE_SCORE - 1e-9:
        score.complaints.append(f"edge/{path.stem} keeps {kept:.2f}, but edge cases may cost at most a quarter")
    for finding in findings:
        if finding.failed and finding.check.property != "edges":
            score.complaints.append(f"edge/{path.stem} fails {finding.check.name}: {finding.message}")
    found = [diagnose(exercise, findings), *(diagnose_edge(exercise, finding) for finding in findings)]
    if path.stem not in (one.name for one in found if one):
        score.complaints.append(f"edge/{path.stem} is taken for {_name_of(next(filter(None, found), None))}")


def _name_of(found: Misconception | None) -> str:
    return found.name if found else "no known mistake"
