"""Right answers with one mutation, as an answer by another hand may be: the edit of a mistake that nobody collected.

A search ends after a number of tries, fewer where calls are expensive, so that a busy machine gives the same points.
Loops count their turns. Time decides only of mutants that hardly end otherwise: one gives nothing after MUTANT_S, and
the search ends with the second.
"""

from __future__ import annotations

import ast
import difflib
import itertools
from collections.abc import Iterator

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer as Reply
from autograder.checks.reference import reference_of
from autograder.diagnosis.budget import ComputeBudget
from autograder.diagnosis.mutations import can_answer, counting_subject
from autograder.diagnosis.programs import Program, programs
from autograder.exercises.parse import parse_source

MAX_MUTANTS = 400  # that are tried for one answer
MAX_UNITS = 60_000  # of all of them together
MAX_PROGRAMS = 4  # right answers that are mutated, the most similar first
MUTANT_S = 2.0  # processor time of one mutant, for those that never end

Mutant = tuple[str, LocalSubject]  # the operator, and what it makes


def similar_mutants(exercise: Exercise, source: str, witness: Reply) -> Iterator[Mutant]:
    """The mutants of the right answers that are most like `source`, those with one change; as many as may be tried."""
    budget, tried = ComputeBudget(reference_of(exercise), [witness], MAX_UNITS), 0
    for program in nearest_programs(exercise, source):
        able = can_answer(program, exercise, witness, budget)
        for operator, namespace in itertools.chain(program.single(), program.renamings()) if able else ():
            tried += 1
            budget.spend_mutant()
            if tried > MAX_MUTANTS or not budget.may_go_on:
                return
            if (subject := counting_subject(namespace, exercise, budget)) is not None:
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
