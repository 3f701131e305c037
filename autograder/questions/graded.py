"""Answers to questions about one's own code, judged when it is handed in.

The questions are made again from the code that was submitted, in the language in which they were asked; only the
student's answers come from the record beside the notebook.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.api import Exercise
from autograder.checks.probe import Case
from autograder.exercises import injected_modules
from autograder.exercises.contracts import contract_name, full_id
from autograder.exercises.parse import without_magics
from autograder.feedback.translate import override_language, say
from autograder.grade.run import CellSource, sources_of
from autograder.questions import record
from autograder.questions.elsewhere import (
    earlier_answers,
    guarded_imports,
    names_from_elsewhere,
    only_call,
    ways_elsewhere,
    ways_of_notebook,
)
from autograder.questions.inputs import cases, usable
from autograder.questions.make import questions
from autograder.questions.question import BadAnswer, fingerprint, is_right, read_answer
from autograder.questions.record import JudgedAnswers
from autograder.questions.runs import CallBudget, CodeRunner, NoCode, OutOfTime, StudentCode, code_of, is_adapter
from autograder.questions.words import in_words
from autograder.sandbox.base import Backend, SandboxError
from autograder.sandbox.client import Cell

NOT_ANSWERED = 'The questions about this code were not answered: run `ask("{exercise}")` below its check.'
CHANGED = (
    "No answers in the record are to the questions about this code: it was changed, or they were asked with another "
    'seed. Run `ask("{exercise}")` once more and answer the new ones.'
)
RIGHT_OF = "{right} of {asked} answers say what the submitted code does."
OTHERWISE = "{prompt} Your answer: {answer}. {explanation}"
NOT_THESE = (
    "Answers in the record to other questions than this code gives, which do not count: {count}. If you changed "
    "nothing in the record, ask your instructor to look at it."
)
NO_ANSWER = "{prompt} The record has no answer to this question."
NOTHING = "No question about this code could be made: a person decides."
ELSEWHERE = (
    "The questions are about the answer's own cell, which uses {names} of another one: move them into it, or a person "
    "decides."
)
NO_TIME = "The grader had no time left to make the questions again: a person decides."
REACHES = (
    "The questions are about the answer's own cell, which can reach other cells by {names}: do without, or a person "
    "decides."
)
ALONE = (
    "The questions are about the answer's own cell, which is not right without the other cells: move what it needs "
    "into it, or a person decides."
)
ONE_CALL = "All questions about this code are about one call, {call}, and not about what it does: a person decides."
MOST_NAMES = 5  # of other cells in a sentence
SUBMISSION_S = 900.0  # wall time for the questions about one submission
FAILED = "The questions could not be made again ({error}): a person decides."


def submission_budget() -> CallBudget:
    """For all questions about one submission."""
    return CallBudget(time.monotonic() + SUBMISSION_S)


def judge(
    exercise: Exercise,
    notebook: Mapping[str, Any],
    entries: Sequence[record.Entry],
    backend: Backend,
    budget: CallBudget,
) -> JudgedAnswers:
    """The answers about a passed exercise, under its contract, of a submitted notebook. entries: of its record, about
    several versions; budget: of the whole submission.

    An exercise that passed and of which nothing can be asked is undecided: code can hide from the questions,
    and whoever does so must not earn more than who answers. Raises SandboxError if there is no box.
    """
    try:
        code, sources = code_of(exercise, notebook), _written(exercise, notebook)
        entry = record.find_entry(entries, record.digest(code.text, contract=contract_name(exercise)))
        if entry is None:
            return JudgedAnswers(0, 1, say(CHANGED if entries else NOT_ANSWERED, exercise=full_id(exercise)))
        if hidden := _hidden(code, sources):
            return _undecided(hidden)
        made = _made(code, backend, entry["language"], budget)
        if call := only_call(code.text, [one["line"] for one in made]):
            return _undecided(say(ONE_CALL, call=f"`{call}`"))
        if made and not is_self_contained(code, sources, backend, budget.part()):
            return _undecided(say(ALONE))
        return _compared(made, entry["asked"])
    except SandboxError:
        raise
    except NoCode as error:
        return JudgedAnswers(0, 1, str(error))
    except OutOfTime:
        return _undecided(say(NO_TIME))
    except Exception as error:  # whatever a student's code does to the search
        return _undecided(say(FAILED, error=type(error).__name__))


def _written(exercise: Exercise, notebook: Mapping[str, Any]) -> list[CellSource]:
    """The notebook's cells without those that turn answers into the course's form, which are the course's own."""
    return [one for one in sources_of(notebook) if not is_adapter(one.text, exercise)]


def _hidden(code: StudentCode, sources: Sequence[CellSource]) -> str:
    """What keeps the questions from being about all of the answer's work, as a sentence; "" if nothing does."""
    written = [one.text for one in sources if without_magics(one.text).strip() == code.text.strip()]
    for sentence, found in (
        (ELSEWHERE, names_from_elsewhere(code.exercise, code.text, sources)),
        (REACHES, [*ways_elsewhere(code.text), *(way for one in written for way in ways_of_notebook(one))]),
    ):
        if found:
            return say(sentence, names=", ".join(f"`{name}`" for name in found[:MOST_NAMES]))
    return ""


def is_self_contained(code: StudentCode, sources: Sequence[CellSource], backend: Backend, budget: CallBudget) -> bool:
    """Whether the cell, where it finds nothing but imports and right answers to earlier exercises, answers some call as
    it should, and every one that it answers so beside the other cells, by the same lines: code can get at those in more
    ways than can be listed. The calls are drawn for this code, so that it cannot hold the result of one that is
    known."""
    given = injected_modules.source(earlier_answers(code.exercise, code.text))[0]
    before = (Cell("imports", guarded_imports(one.text for one in sources)), Cell("earlier", given))
    drawn = cases(code.exercise, record.digest(code.text))
    with CodeRunner(code, backend, budget) as run:
        beside = [usable(code.exercise, case, run, code.text) for case in drawn]
        lines = [_lines_run(run, code.text, one) for one in beside]
    asked = [one or case for one, case in zip(beside, drawn, strict=True)]
    with CodeRunner(replace(code, before=before), backend, budget) as run:
        alone = [usable(code.exercise, case, run, code.text) for case in asked]
        others = any(one != _lines_run(run, code.text, case) for one, case in zip(lines, beside, strict=True))
    lost = any(one is not None and other is None for one, other in zip(beside, alone, strict=True))
    return not lost and not others and any(one is not None for one in alone)


def _lines_run(run: CodeRunner, text: str, case: Case | None) -> set[int]:
    """The lines of the cell that run for this call; none without one."""
    notes = None if case is None else run.notes(text, case, "_q_watch")
    return set(notes[1]) if notes else set()


def _undecided(message: str) -> JudgedAnswers:
    return JudgedAnswers(0, 0, message, undecided=True)


def _made(code: StudentCode, backend: Backend, language: str, budget: CallBudget) -> list[dict[str, Any]]:
    """The questions as they were asked."""
    with override_language(language):
        return [one.as_json() for one in questions(code, backend, budget=budget.part())]


def _compared(made: Sequence[dict[str, Any]], asked: Sequence[Mapping[str, Any]]) -> JudgedAnswers:
    """Every question that is made again counts, whatever the record says: the record is the student's."""
    if not made:
        return _undecided(say(NOTHING))
    given = {one["of"]: one["value"] for one in asked}
    known = [fingerprint(one) for one in made]
    verdicts = [
        _verdict(one, given[of]) if of in given else say(NO_ANSWER, prompt=one["prompt"])
        for one, of in zip(made, known, strict=True)
    ]
    right = verdicts.count("")
    wrong = [f"{number}. {told}" for number, told in enumerate(verdicts, 1) if told]
    other = len(given.keys() - set(known))
    words = [say(RIGHT_OF, right=right, asked=len(made)), *wrong]
    return JudgedAnswers(right, len(made), " ".join([*words, say(NOT_THESE, count=other)] if other else words))


def _verdict(one: dict[str, Any], value: Any) -> str:
    """What the code does instead of what the student answered; "" if it does that."""
    try:
        answer = read_answer(one["kind"], len(one["options"]), one["rows"], value)
    except BadAnswer as error:
        return f"{one['prompt']} {error}"
    if is_right(one["kind"], one["key"], answer):
        return ""
    return say(OTHERWISE, prompt=one["prompt"], answer=in_words(one, answer), explanation=one["explanation"])
