"""The questions of a prediction in a notebook: a plain ipywidget for any front end that supports those."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from tfkit_lab import prediction_card, sealed
from tfkit_lab.page import STATIC
from tfkit_lab.questions import Question, check_answers


class Prediction(anywidget.AnyWidget):
    """Asks the questions of one prediction, and is replaced by a card once it is sealed.

    `name`, `questions`: as in `predict`; `folder`: the notebook's folder, in which the answers are stored.
    """

    _esm = STATIC / "prediction.js"
    _css = traitlets.Unicode().tag(sync=True)
    form: Any = traitlets.Dict().tag(sync=True)
    sealed: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)
    display_handle: Any = None  # of the output that shows it

    def __init__(self, name: str, questions: list[Question], folder: Path, sure: bool = False) -> None:
        asked = {"sure": list(sealed.SURE)} if sure else {}
        super().__init__(form={"name": name, "questions": questions, **asked}, _css=prediction_card.style())
        self.folder = folder
        self.on_msg(self._answered)

    def _answered(self, _widget: Any, content: Any, _buffers: Any) -> None:
        try:
            self.answer(content)
        except ValueError as error:
            self.problem = str(error)
        except OSError as error:
            self.problem = f"the prediction could not be stored: {error}"

    def answer(self, content: dict[str, Any]) -> None:
        """Handle a message of the browser: {"do": "seal", "answers": […]}, perhaps with "sure", or
        {"do": "pass"}. Raises ValueError for
        answers that cannot be sealed, OSError if the folder cannot be written."""
        self.problem = ""
        name, questions = self.form["name"], self.form["questions"]
        answers = check_answers(questions, content.get("answers")) if content.get("do") == "seal" else None
        entry = self.store(name, questions, answers, content.get("sure"))
        self.sealed = entry
        if self.display_handle is not None:  # so that a saved notebook shows the card without a kernel
            self.display_handle.update(prediction_card.bundle(name, entry), raw=True)

    def store(
        self, name: str, questions: list[Question], answers: list[Any] | None, sure: int | None
    ) -> dict[str, Any]:
        """The entry with these answers; None: the user skipped them."""
        return sealed.seal(self.folder, name, questions, answers, sure)


class SecondVote(Prediction):
    """Asks the questions of a sealed prediction once more, after a talk."""

    def store(
        self, name: str, questions: list[Question], answers: list[Any] | None, sure: int | None
    ) -> dict[str, Any]:
        """The entry with the second answers beside the first; who skips keeps the first alone."""
        if answers is None:
            return sealed.read(self.folder)[name]
        return sealed.vote_again(self.folder, name, answers)
