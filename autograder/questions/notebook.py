"""`ask("masks.causal")` in a notebook: questions about the answer that was run, and what becomes of the answers.

The code runs in a box, in a process of its own. The keys stay in the kernel's memory until the answers are given, so
that no saved notebook has them before.
"""

from __future__ import annotations

import ast
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from autograder.console.ask import ask as ask_process
from autograder.console.kernel import widget_module
from autograder.exercises import contracts
from autograder.exercises.parse import parse_source, without_magics
from autograder.feedback.translate import language, say
from autograder.questions import record
from autograder.questions.card import questions_html, verdict_html
from autograder.questions.question import BadAnswer, fingerprint, is_right, read_answer, without_key
from autograder.questions.words import in_words, questions_text, verdict_text

WIDGET = "tfkit_lab.own_code_widget"
GRADER = ("ask", "check", "hunt", "order")  # the functions of the grader, which the box has not
CALLS = re.compile(rf"^\s*({'|'.join(GRADER)})\(", re.M)
EXAMPLES = {"number": "4", "shape": "[2, 3]", "choice": "1", "set": "[0, 2]"}
COUNTS = "there are {count} questions, and {given} answers"
BEFORE = "These questions were answered before; for this code and seed only the first answers are kept."
MADE = "The questions of {count} of {of} exercises are answered."
MISSING = "Not yet answered: {names}"


class QuestionsFailed(RuntimeError):
    """There are no questions, or the answers do not fit them; the message says why, and is shown as one line."""

    def _render_traceback_(self) -> list[str]:  # what IPython shows instead of a traceback
        return [str(self)]


_asked: dict[str, dict[str, Any]] = {}  # exercise -> the questions of this kernel, with their keys


def ask(exercise: str, *answers: Any, seed: int = 0) -> CodeQuestions | AnsweredQuestions:
    """The questions about the answer to an exercise that this notebook has run; with answers, what becomes of them.

    Questions that were answered before are shown with those answers.

    As the last line of a cell it is shown as a card. Raises QuestionsFailed.
    """
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        raise QuestionsFailed("ask() works in a notebook; for a file use `autograder questions show EXERCISE FILE`")
    if not answers:
        _asked[exercise] = questions_of(exercise, list(shell.user_ns.get("In", [])), seed)
        return earlier_answers(_asked[exercise], Path.cwd()) or CodeQuestions(_asked[exercise])
    if exercise not in _asked:
        raise QuestionsFailed(f"the questions come first: run `ask({exercise!r})`, then give the answers")
    return answer_questions(_asked[exercise], answers, Path.cwd())


class CodeQuestions:
    """Questions in a notebook, without their keys."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found

    def _hidden(self) -> list[dict[str, Any]]:
        return [without_key(one) for one in self._found["questions"]]

    def _ipython_display_(self) -> None:
        """Shows the code and the questions; where somebody can answer in the lab's form, the questions in it."""
        from IPython.display import display

        module = widget_module(WIDGET)
        if module is None:
            display({"text/html": self._repr_html_(), "text/plain": repr(self)}, raw=True)
            return
        display({"text/html": self._page(""), "text/plain": repr(self)}, raw=True)
        form = module.OwnCodeForm(self._found["exercise"], self._hidden(), self.answer)
        form.display_handle = display(form, display_id=True)

    def answer(self, answers: list[Any]) -> dict[str, str]:
        """What becomes of the answers, as an output of a notebook. Raises QuestionsFailed for those that do not fit."""
        given = answer_questions(self._found, tuple(answers), Path.cwd())
        return {"text/html": given._repr_html_(), "text/plain": repr(given)}

    def _page(self, call: str) -> str:
        return questions_html(self._found["title"], self._found["exercise"], self._found["code"], self._hidden(), call)

    def _repr_html_(self) -> str:
        shown = ", ".join(
            [f'"{self._found["exercise"]}"', *(EXAMPLES[one["kind"]] for one in self._found["questions"])]
        )
        return self._page(f"ask({shown})")

    def __repr__(self) -> str:
        return questions_text(self._found["exercise"], self._found["code"], self._hidden())


class AnsweredQuestions:
    """Answers with the keys."""

    def __init__(self, found: dict[str, Any], judged: list[dict[str, Any]], note: str) -> None:
        self._found, self.judged, self._note = found, judged, note

    @property
    def right(self) -> int:
        """How many answers are right."""
        return sum(one["right"] for one in self.judged)

    def _repr_html_(self) -> str:
        return verdict_html(self._found["title"], self._found["exercise"], self.judged, self._note)

    def __repr__(self) -> str:
        return "\n".join(filter(None, [verdict_text(self.judged), self._note]))


def answer_questions(found: dict[str, Any], answers: tuple[Any, ...], folder: Path) -> AnsweredQuestions:
    """The answers beside the keys; they are stored. Raises QuestionsFailed for answers that do not fit."""
    judged = judge(found["questions"], answers)
    exercise, code = _kept_by(found)
    fresh = record.seal(folder, exercise, code, list(map(_kept, judged)), language())
    return AnsweredQuestions(found, judged, "" if fresh else say(BEFORE))


def _kept_by(found: dict[str, Any]) -> tuple[str, str]:
    """The exercise, whatever its contract, and the digest by which these questions are found in the record."""
    exercise, _, contract = found["exercise"].partition(contracts.MARK)
    return exercise, record.digest(found["code"], found["seed"], contract)


def _kept(one: dict[str, Any]) -> dict[str, Any]:
    """A question and its answer as they are stored: by `of` and `value` the answer is judged again when it counts."""
    value = one["answer"] + 1 if one["kind"] == "choice" else one["answer"]
    return {"prompt": one["prompt"], "answer": in_words(one, one["answer"]), "right": one["right"],
            "of": fingerprint(one), "value": value}  # fmt: skip


def earlier_answers(found: dict[str, Any], folder: Path) -> AnsweredQuestions | None:
    """The stored answers beside the keys, if these very questions were answered; that there were none is stored too."""
    exercise, code = _kept_by(found)
    if not found["questions"]:
        record.seal(folder, exercise, code, [], language())
        return None
    entry = record.find_entry(record.read(folder).get(exercise, []), code)
    given = {one["of"]: one["value"] for one in entry["asked"]} if entry else {}
    try:
        return AnsweredQuestions(
            found, judge(found["questions"], tuple(given[fingerprint(one)] for one in found["questions"])), say(BEFORE)
        )
    except (KeyError, QuestionsFailed):
        return None


def questions_answered(*exercises: str) -> None:
    """Print of how many of these exercises the questions are answered, and of which they are not.

    The cell that grades them calls it. Whether they are about the code that is handed in shows when it is graded.
    """
    answered = record.read(Path.cwd())
    missing = [name for name in exercises if not answered.get(name)]
    print(say(MADE, count=len(exercises) - len(missing), of=len(exercises)))
    if missing:
        print(say(MISSING, names=", ".join(missing)))


def judge(questions: list[dict[str, Any]], answers: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Each question with its answer and whether that is right. Raises QuestionsFailed for answers that do not fit."""
    if len(answers) != len(questions):
        raise QuestionsFailed(say(COUNTS, count=len(questions), given=len(answers)))
    judged = []
    for number, (one, given) in enumerate(zip(questions, answers, strict=True), 1):
        try:
            answer = read_answer(one["kind"], len(one["options"]), one["rows"], given)
        except BadAnswer as error:
            raise QuestionsFailed(f"{number}: {error}") from None
        judged.append({**one, "answer": answer, "right": is_right(one["kind"], one["key"], answer)})
    return judged


def questions_of(exercise: str, history: list[str], seed: int) -> dict[str, Any]:
    """The questions about what the kernel has run. Raises QuestionsFailed."""
    cells = [{"cell_type": "code", "id": f"run-{n}", "metadata": {}, "source": text, "outputs": []}
             for n, text in enumerate(map(without_calls, history)) if text.strip()]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tfkit-ask-") as folder:
        file = Path(folder) / "notebook.ipynb"
        file.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}), "utf-8")
        wanted = ["questions", "show", exercise, str(file), "--seed", str(seed), "--json", "--keys", "--trust"]
        try:
            return ask_process(wanted, QuestionsFailed)
        except QuestionsFailed as error:  # the file is gone by the time that this is read
            raise QuestionsFailed(str(error).removeprefix(f"{file}: ")) from None


def without_calls(text: str) -> str:
    """A cell without its statements that call the grader; nothing of a cell that has some and cannot be parsed."""
    if not CALLS.search(text):
        return text
    text = without_magics(text)
    lines = text.splitlines()
    try:
        statements = parse_source(text).body
    except SyntaxError:
        return ""
    for one in statements:
        called = one.value.func if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in GRADER:
            first, last = one.lineno - 1, one.end_lineno or one.lineno
            lines[first:last] = [""] * (last - first)
    left = "\n".join(lines)
    return "" if CALLS.search(left) else left
