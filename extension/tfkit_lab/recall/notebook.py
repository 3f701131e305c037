"""`recall("03-heads", after=["02-masks"])` in a notebook: up to three questions on earlier units, at a unit's opening.

In the lab, and in any front end with ipywidgets, they are asked one after the other in a widget; elsewhere they are
listed, and `recall.answer(1, …)` answers the first. Where nobody can answer, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.feedback.translate import language, say
from tfkit_lab.predict import user_can_answer
from tfkit_lab.recall import page
from tfkit_lab.recall.cards import ORDER, Card
from tfkit_lab.recall.opening import Opening

NOTHING_DUE = "No question on an earlier unit is due."
NEXT = "The next one comes back on {day}."
NO_SUCH = "There is no question {number}: they are numbered from 1 to {count}."
BEFORE_THAT = "the questions come first: run the cell that calls recall(…)"


class Recall:
    """Asks by `recall(unit, after=[…])`, and answers without a widget by `recall.answer(number, answer)`."""

    def __init__(self) -> None:
        self.opening: Opening | None = None

    def __call__(self, unit: str, after: Sequence[str]) -> None:
        """Ask up to three questions on the units in `after`, the earlier ones in the course's order, or show what came
        of them a moment ago. `unit`: the one that is opened."""
        if not user_can_answer():
            return
        self.opening = Opening(unit, after, Path.cwd())
        if not self.opening.cards:
            print("\n".join(filter(None, [self.opening.note, _nothing_due(self.opening)])))
        elif len(self.opening.results) == len(self.opening.cards):
            _display(page.bundle(self.opening, ended=True))
        else:
            self._ask(self.opening)

    def answer(self, number: int, answer: Any) -> None:
        """Answer the question of this number, and show what came of it.

        answer: a number, a list of numbers, the number of an option or its text; lines in order by their numbers; a
        mask as rows of 0 and 1. Raises ValueError for one that does not fit.
        """
        if self.opening is None or not self.opening.cards:
            raise ValueError(say(BEFORE_THAT))
        count = len(self.opening.cards)
        if not isinstance(number, int) or not 1 <= number <= count:
            raise ValueError(say(NO_SUCH, number=repr(number), count=count))
        self.opening.answer(number - 1, typed_answer(self.opening.cards[number - 1], answer))
        _display(page.bundle(self.opening))

    @staticmethod
    def _ask(opening: Opening) -> None:
        try:
            from tfkit_lab.recall.widget import RecallForm
        except (ImportError, FileNotFoundError):  # no widgets here, or a front end that was not built
            _display(page.bundle(opening))
            return
        form = RecallForm(opening)
        form.display_handle = _display({**page.bundle(opening), **form.view()}, display_id=True)


recall = Recall()


def typed_answer(card: Card, answer: Any) -> Any:
    """An answer as a person types it, as the form sends it."""
    kind, question = card.question["kind"], card.question
    answer = list(answer) if isinstance(answer, tuple) else answer
    if kind == "choice":
        numbers, options = answer if isinstance(answer, list) else [answer], question["options"]
        if all(isinstance(one, int) and 1 <= one <= len(options) for one in numbers):
            return [options[one - 1] for one in numbers]
    if kind == ORDER and isinstance(answer, list):
        return [one - 1 if isinstance(one, int) else one for one in answer]
    if kind == "mask" and isinstance(answer, list):
        return [[cell == "1" for cell in row] if isinstance(row, str) else row for row in answer]
    return answer


def _nothing_due(opening: Opening) -> str:
    when = opening.next_due
    return say(NOTHING_DUE) + (f" {say(NEXT, day=_day(when))}" if when else "")


def _day(when: Any) -> str:
    """A date as it is read anywhere; the language of the machine may not be the reader's."""
    return when.astimezone().strftime("%d/%m/%Y" if language() == "fr" else "%Y-%m-%d")


def _display(bundle: dict[str, Any], display_id: bool = False) -> Any:
    from IPython.display import display

    return display(bundle, raw=True, display_id=display_id) if display_id else display(bundle, raw=True)
