"""Right answers with one mutation, as an answer by another hand may be: the edit of a mistake that nobody collected.

A search ends after a number of tries, fewer where calls are expensive, so that a busy machine gives the same points.
Time decides only of mutants that hardly end: one gives nothing after MUTANT_S, and the search ends with the second.
"""

from __future__ import annotations

import ast
import difflib
import itertools
from collections.abc import Iterator

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer as Reply
from autograder.checks.properties._spy import spy_on
from autograder.diagnosis.mutations import subject_in
from autograder.diagnosis.programs import Program, programs
from autograder.exercises.parse import parse_source

MAX_MUTANTS = 400  # that are tried for one answer
MAX_CALLS = 20_000  # of torch's operations, in all of them together
MAX_PROGRAMS = 4  # right answers that are mutated, the most similar first
MUTANT_S = 2.0  # processor time of one mutant, for those that never end

Mutant = tuple[str, LocalSubject]  # the operator, and what it makes


def similar_mutants(exercise: Exercise, source: str, witness: Reply) -> Iterator[Mutant]:
    """The mutants of the right answers that are most like `source`, those with one change; as many as may be tried."""
    tried, calls = 0, 0
    for program in nearest_programs(exercise, source):
        each = _calls(program, witness)
        for operator, namespace in itertools.chain(program.single(), program.renamings()) if each is not None else ():
            tried, calls = tried + 1, calls + (each or 0)
            if tried > MAX_MUTANTS or calls > MAX_CALLS:
                return
            if (subject := subject_in(namespace, exercise)) is not None:
                yield operator, subject


def nearest_programs(exercise: Exercise, source: str) -> list[Program]:
    """The right answers whose code is most like this one."""
    try:
        words = _words(parse_source(source))
    except SyntaxError:
        return []
    ratio = lambda program: difflib.SequenceMatcher(None, words, _words(program.tree), autojunk=False).ratio()
    return sorted(programs(exercise), key=lambda program: -ratio(program))[:MAX_PROGRAMS]


def _words(tree: ast.Module) -> list[str]:
    """The kinds of nodes and the names of attributes, in order: what stays the same if variables are renamed."""
    return [node.attr if isinstance(node, ast.Attribute) else type(node).__name__ for node in ast.walk(tree)]


def _calls(program: Program, witness: Reply) -> int | None:
    """How many of torch's operations this program needs for a question; None if it has no answer to it."""
    try:
        subject = LocalSubject(program.namespace())
        return int(spy_on(subject, lambda: witness.probe.ask(subject))["calls"])
    except Exception:  # this way to write it does not answer such questions
        return None
