"""Judges an order of lines by running it: the exercise's checks decide, so any right order passes.

Where an order fails without a line of a known mistake, its beginnings are completed and run, which tells the first line
that is out of place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from autograder.api import Exercise, Limits, Status
from autograder.checks.probe import Finding, QuestionSet, collect_answers, questions
from autograder.checks.reference import reference_of
from autograder.exercises import injected_modules, registry
from autograder.exercises.contracts import with_adapter
from autograder.exercises.parse import is_python, parse_source
from autograder.feedback.translate import say, translate_text
from autograder.feedback.words import places
from autograder.ordering.make import PlacedLine, Puzzle
from autograder.ordering.out_of_place import first_wrong
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Cell, SandboxClient

ROW = re.compile(r" on line \d+")  # Python's number of a row, which is none of the puzzle
PASSED = "Your order is right: it passes all checks. Now write the answer in its cell yourself."
TAKEN = "Line {line} of your order belongs to a known mistake."
UNREADABLE = "Python cannot read line {line} of your order: {message}."
UNREADABLE_AFTER = "Python cannot read what comes after your lines: {message}."
FIRST_FINDING = "What the first check that fails has found ({check}): {message}."


@dataclass(frozen=True)
class OrderVerdict:
    """The result for one order. Lines are counted in the order that was handed in, from 1 on.

    `line`: the first that is out of place, or that Python cannot read; `mistakes`: what the lines of known mistakes
    show, as (line, name, sentence); `checks`: those that were made, as (name, status).
    """

    exercise: str
    status: Status
    sentences: tuple[str, ...] = ()
    line: int | None = None
    mistakes: tuple[tuple[int, str, str], ...] = ()
    checks: tuple[tuple[str, Status], ...] = ()
    sandbox: str = ""

    def as_json(self) -> dict[str, Any]:
        """The object that `autograder order --json` prints."""
        return asdict(self)


def judge(puzzle: Puzzle, order: Sequence[PlacedLine], backend: Backend, seed: int = 0) -> OrderVerdict:
    """The verdict on this order of the puzzle's lines; `seed`: of the inputs that the checks draw."""
    mistakes = tuple(_taken(puzzle, order))
    verdict = OrderVerdict(puzzle.exercise.id, "failed", mistakes=mistakes, sandbox=backend.name)
    if unreadable := _unreadable(puzzle, order):
        line, words = unreadable
        return replace(verdict, sentences=(*_words(mistakes), words), line=line)
    checker = ProgramChecker(puzzle.exercise, backend, seed)
    findings = checker.findings(puzzle.program(order))
    verdict = replace(verdict, checks=tuple((finding.check.name, _status(finding)) for finding in findings))
    failed = [finding for finding in findings if finding.failed]
    if not failed:
        return replace(verdict, status="passed", sentences=(say(PASSED),), mistakes=())
    first = say(FIRST_FINDING, check=say(failed[0].check.name), message=places(failed[0].message))
    if mistakes:
        return replace(verdict, sentences=(*_words(mistakes), first))
    line, words = first_wrong(puzzle, order, checker.passes)
    return replace(verdict, line=line, sentences=(words, first))


def _status(finding: Finding) -> Status:
    return "not_run" if finding.check.not_run else "failed" if finding.failed else "passed"


def _taken(puzzle: Puzzle, order: Sequence[PlacedLine]) -> list[tuple[int, str, str]]:
    """The lines of known mistakes in this order, with the name and the sentence of each mistake."""
    chosen = [(at, puzzle.line(one.number)) for at, one in enumerate(order, 1)]
    folder = puzzle.exercise.folder
    return [(at, line.mistake, translate_text(line.sentence, folder)) for at, line in chosen if line.mistake]


def _words(mistakes: Sequence[tuple[int, str, str]]) -> list[str]:
    return [f"{say(TAKEN, line=at)} {sentence.strip()}" for at, _, sentence in mistakes]


def _unreadable(puzzle: Puzzle, order: Sequence[PlacedLine]) -> tuple[int | None, str] | None:
    """The line that is no Python where it stands, if there is one, and a sentence that says so."""
    try:
        parse_source(puzzle.program(order))
    except SyntaxError as error:
        message, rows = ROW.sub("", error.msg), puzzle.rows(order)
        last = rows[-1] + puzzle.line(order[-1].number).text.count("\n")
        line = sum(row <= (error.lineno or 0) for row in rows)
        if not line or (error.lineno or 0) > last:
            return None, say(UNREADABLE_AFTER, message=message)
        return line, say(UNREADABLE, line=line, message=message)
    return None


@dataclass(frozen=True)
class ProgramChecker:
    """Runs programs in boxes, each by the same checks on the same inputs."""

    exercise: Exercise
    backend: Backend
    seed: int
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def _asked(self) -> list[QuestionSet]:
        checks = registry.check_function(self.exercise)()
        return list(questions(checks, reference_of(self.exercise), f"{self.seed}/{self.exercise.id}"))

    def findings(self, program: str, first: bool = False) -> list[Finding]:
        """What the checks find of a program; `first`: none after the first that fails."""
        with SandboxClient(self.backend, self.limits) as box:
            box.inject(injected_modules.modules(registry.injected_references(self.exercise)))
            box.run_cells([Cell("order", with_adapter(self.exercise, program))])
            return collect_answers(self._asked, box, (lambda finding: bool(finding.failed)) if first else None)

    def passes(self, program: str) -> bool:
        """Whether the program passes every check."""
        return is_python(program) and not any(finding.failed for finding in self.findings(program, first=True))
