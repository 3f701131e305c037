"""`order("attention.attend")` in a notebook: its lines to put in order, in a widget or, without one, as a card."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from autograder.console.ask import ask
from autograder.console.kernel import open_notebook, widget_module
from autograder.exercises import registry
from autograder.feedback.translate import say
from autograder.ordering.answer import read_order
from autograder.ordering.card import task_html, verdict_html
from autograder.ordering.make import make
from autograder.ordering.words import task_text, verdict_text

WIDGET = "tfkit_lab.ordering_widget"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CALL = 'order("{exercise}", seed={seed}).check("3 1 2:1")'
TAKEN = (
    "This order is your answer, if it is all of the answer's cell. When the notebook is graded, it earns at most "
    "{share} % of the points."
)
UNKNOWN = "This order is your answer if it is all of the answer's cell, and if the notebook says that orders count."
RIGHT = "Your order is right: it passes all checks."
NOT_TAKEN = "This notebook takes no order of lines as the answer to {exercise}: write the code."


class OrderFailed(RuntimeError):
    """There are no lines to put in order, or no verdict; the message says why."""


def order(exercise: str, seed: int = 0, student: str | None = None) -> NotebookPuzzle:
    """The lines of the exercise's answer, shuffled for the student, by default the current user, and this seed.

    As the last line of a cell it is shown. Raises OrderFailed.
    """
    drawn = ["order", exercise, "--seed", str(seed), *([] if student is None else ["--student", student])]
    return NotebookPuzzle(ask([*drawn, "--json"], OrderFailed), drawn, student)


class NotebookPuzzle:
    """Lines to put in order, in a notebook. `task`: what is shown of them."""

    def __init__(self, task: dict[str, Any], drawn: list[str], student: str | None = None) -> None:
        self.task, self._drawn, self._student = task, drawn, student

    def check(self, answer: str) -> NotebookOrderVerdict:
        """The verdict on an order such as `3 1 2:1`, in which line 2 is indented. Raises OrderFailed."""
        return NotebookOrderVerdict(ask([*self._drawn, f"--answer={answer}", "--json", "--trust"], OrderFailed))

    def hand_in(self, answer: str) -> NotebookOrderVerdict:
        """The verdict on an order that stands in the place of code, in the answer's cell. A right one defines what its
        program does. Raises OrderFailed, also where the course takes no order as an answer."""
        from IPython import get_ipython

        exercise, shell = self.task["exercise"], get_ipython()
        taken = ordered_exercises()
        if shell is None or (taken is not None and exercise not in taken[1]):
            raise OrderFailed(say(NOT_TAKEN, exercise=exercise))
        found = self.check(answer).found
        sentences = found["sentences"]
        if found["status"] == "passed":
            sentences = [say(RIGHT)]  # and not: now write it yourself
            puzzle = make(registry.find(exercise), self._student, self.task["seed"])
            exec(puzzle.program(read_order(puzzle, answer)), shell.user_ns)  # all its lines are our own
        told = say(UNKNOWN) if taken is None else say(TAKEN, share=f"{100 * taken[0]:g}")
        return NotebookOrderVerdict({**found, "sentences": [*sentences, told]})

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        call = CALL.format(**self.task)
        bundle: dict[str, Any] = {"text/plain": task_text(self.task, call), "text/html": task_html(self.task, call)}
        widget = widget_module(WIDGET)
        if widget is not None:
            shown = widget.Ordering(self.task, lambda answer: self.check(answer).found)
            bundle[WIDGET_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": shown.model_id}
        return bundle

    def __repr__(self) -> str:
        return task_text(self.task, CALL.format(**self.task))


class NotebookOrderVerdict:
    """The verdict on an order; as the last line of a cell it is shown as a card."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found

    def _repr_html_(self) -> str:
        return verdict_html(self.found)

    def __repr__(self) -> str:
        return verdict_text(self.found)


def ordered_exercises(environment: Mapping[str, str] = os.environ) -> tuple[float, list[str]] | None:
    """The share of the points that an order of lines earns in this kernel's notebook, and the exercises, with their
    contracts, of which it takes one; 0 and none if it takes none, and None if the notebook cannot be read."""
    try:
        marks = open_notebook(environment)["metadata"]["tfkit"]
        found = marks.get("ordered", {"share": 0.0, "exercises": []})
        return float(found["share"]), list(map(str, found["exercises"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
