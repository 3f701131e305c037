"""The questions about one's own code in a notebook, in the form of a prediction. The keys stay in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfkit_lab import questions, sealed
from tfkit_lab.prediction_widget import Prediction
from tfkit_lab.questions import check_answers

Answer = Callable[[list[Any]], Mapping[str, str]]  # the answers -> the output that takes the form's place


class OwnCodeForm(Prediction):
    """Asks questions as `autograder questions show --json` prints them, and is replaced by what `answer` says."""

    def __init__(self, exercise: str, asked: Sequence[Mapping[str, Any]], answer: Answer) -> None:
        super().__init__(exercise, [_form_of(number, one) for number, one in enumerate(asked, 1)], Path.cwd())
        self._kinds, self._tell = [one["kind"] for one in asked], answer

    def answer(self, content: dict[str, Any]) -> None:
        """Handle a message of the browser: {"do": "seal", "answers": […]} or {"do": "pass"}. Raises ValueError for
        answers that do not fit, OSError if they cannot be stored."""
        self.problem = ""
        if content.get("do") != "seal":
            self.sealed = {"questions": self.form["questions"], "answers": None, "at": ""}
            return
        given = check_answers(self.form["questions"], content.get("answers"))
        told = self._tell([_answer_of(kind, one, form) for kind, one, form in
                           zip(self._kinds, given, self.form["questions"], strict=True)])  # fmt: skip
        sealed.publish(Path.cwd())
        self.sealed = {"questions": self.form["questions"], "answers": given, "at": ""}
        if self.display_handle is not None:
            self.display_handle.update(told, raw=True)


def _form_of(number: int, one: Mapping[str, Any]) -> questions.Question:
    """The question as the form of predictions has it."""
    label = f"{number}. {one['prompt']}".replace("`", "")
    if one["kind"] == "number":
        return questions.number(label, within=0.005)
    if one["kind"] == "shape":
        return questions.shape(label)
    if one["kind"] == "set":
        return questions.choice(label, *map(str, range(one["rows"])), several=True)
    return questions.choice(label, *(option.replace("`", "") for option in one["options"]))


def _answer_of(kind: str, given: Any, form: questions.Question) -> Any:
    """An answer of the form as `ask` takes it: an option by its number, rows by their indices."""
    if kind == "choice":
        return form["options"].index(given[0]) + 1
    return [int(row) for row in given] if kind == "set" else given
