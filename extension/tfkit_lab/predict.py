"""Predictions: asked before a cell is run, sealed, and compared with the result.

    predict("03.parameters", predict.number("How many parameters with 8 heads?"), predict.number("And with 1?"))

and in the cell below

    guess = predicted("03.parameters")        # goes no further until the prediction is sealed or skipped
    ...
    guess.compare(counts[8], counts[1])

A class that has talked may vote once more, before anyone runs the cell below: `predict.again("03.parameters")`. The
first answers stay sealed, and it is they that are compared.

With `predict(…, sure=True)` it is also asked how sure one is; `predict.curve()` then shows how often what one was so
sure of came true.

They are stored in `.tfkit/predictions.json` beside the notebook (tfkit_lab.sealed). If nobody can answer, as in
`jupyter execute`, in nbgrader and in tests, no question is asked, and the cells below run and show the result.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.console.kernel import has_front_end
from autograder.feedback.translate import say
from tfkit_lab import calibration, prediction_card, questions, sealed, unsealed
from tfkit_lab.questions import Question, stored_value

__all__ = ["predict", "predicted", "predictions_made", "user_can_answer"]

NOT_SEALED = "Predict first: seal your prediction in the cell above (or skip it there), then run this cell again."
SKIPPED = "You skipped this prediction, so there is nothing to vote on again: go on with the next cell."
_questions: dict[str, list[Question]] = {}  # the questions asked in this process, by name


class NotPredicted(Exception):
    """The cell below a prediction was run before the prediction was made; shown as one line."""

    def _render_traceback_(self) -> list[str]:  # what IPython shows instead of a traceback
        return [str(self)]


class Predict:
    """Asks questions by `predict(name, …)`; its attributes are the kinds of questions, so one import is enough."""

    number = staticmethod(questions.number)
    numbers = staticmethod(questions.numbers)
    shape = staticmethod(questions.shape)
    choice = staticmethod(questions.choice)
    mask = staticmethod(questions.mask)

    def __call__(self, name: str, *questions: Question, sure: bool = False) -> None:
        """Show the questions, to be answered once, or the answers sealed before. `name`: e.g. `03.parameters`.

        sure: ask also how sure one is of all the answers together, which may be left open. Raises ValueError without
        questions.
        """
        if not questions:
            raise ValueError(f"predict({name!r}) has no questions: pass predict.number(…), predict.choice(…) …")
        _questions[name] = list(questions)
        if _shell() is None:  # a check runs this cell outside a notebook
            return
        from IPython.display import display

        entry = sealed.read(Path.cwd()).get(name)
        if entry is not None:
            display(prediction_card.bundle(name, entry), raw=True)
        elif user_can_answer():
            from tfkit_lab.prediction_widget import Prediction

            widget = Prediction(name, list(questions), Path.cwd(), sure)
            widget.display_handle = display(widget, display_id=True)

    def again(self, name: str) -> None:
        """Ask a sealed prediction's questions once more, after a talk; without its first answers in sight.

        What was voted on twice, or has its result, is shown as a card; of what was skipped, a line says that there is
        nothing to vote on. Raises NotPredicted if it was neither predicted nor skipped.
        """
        entry = _entry_of(name)
        if entry is None or entry.get("answers") is None:
            if entry is not None and user_can_answer():
                print(say(SKIPPED))  # no error: nothing that they could do would mend it, and it would end "Run All"
            return
        from IPython.display import display

        if not sealed.is_open(entry):
            display(prediction_card.bundle(name, entry), raw=True)
        elif user_can_answer():
            from tfkit_lab.prediction_widget import SecondVote

            widget = SecondVote(name, entry["questions"], Path.cwd())
            widget.display_handle = display(widget, display_id=True)

    def curve(self) -> None:
        """Show how often predictions came true by how sure one was of them, over all units; with the same in words."""
        if _shell() is not None:
            from IPython.display import display

            display(calibration.bundle(calibration.own_steps(Path.cwd())), raw=True)


predict = Predict()


def predicted(name: str) -> SealedPrediction:
    """The sealed prediction; raises NotPredicted if there is none, but a user could make it."""
    return SealedPrediction(name, _entry_of(name))


def _entry_of(name: str) -> dict[str, Any] | None:
    """What is stored of a prediction; raises NotPredicted if nothing is, but a user could make it."""
    entry = sealed.read(Path.cwd()).get(name) if _shell() else None
    if entry is None and user_can_answer():
        raise NotPredicted(say(NOT_SEALED))
    return entry


def predictions_made(*names: str) -> None:
    """Print how many of a unit's predictions are made, and which are not. The cell that grades them calls it."""
    entries = sealed.read(Path.cwd())
    missing = [name for name in names if entries.get(name, {}).get("answers") is None]
    summary = f"{len(names) - len(missing)} of {len(names)} predictions made"
    print(f"{summary}; not yet made: {', '.join(missing)}" if missing else summary)


@dataclass(frozen=True)
class SealedPrediction:
    """A prediction that can be compared; `entry` is None if nobody was asked."""

    name: str
    entry: dict[str, Any] | None = field(repr=False)

    def compare(self, *observed: Any) -> None:
        """Show the result beside the prediction, one value for each question: a number, a shape, an option (or a list
        of them), a table of truth values; tensors are accepted.

        Raises ValueError if a value does not fit its question.
        """
        entry = self.entry or {"questions": _questions.get(self.name), "answers": None}
        questions = entry["questions"]
        if questions is None or _shell() is None:  # the cell that asks was not run, so there is nothing to compare with
            return
        if len(observed) != len(questions):
            raise ValueError(f"{self.name} has {len(questions)} questions, but is compared with {len(observed)} values")
        outcomes = [stored_value(question, one) for question, one in zip(questions, observed, strict=True)]
        if self.entry:
            sealed.add_outcome(Path.cwd(), self.name, outcomes)
        from IPython.display import display

        display(prediction_card.bundle(self.name, {**entry, "observed": outcomes}), raw=True)


def _shell() -> Any:
    """The running IPython shell, or None."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def user_can_answer() -> bool:
    """Whether a user can be asked: the notebook has a front end. A kernel in the browser does not know whether it has
    one, but always has a user."""
    if sys.platform == "emscripten":
        return _shell() is not None
    return has_front_end(_shell())


def _settled() -> set[str] | None:
    """The predictions that are sealed or skipped; None where no user could make one."""
    return set(sealed.read(Path.cwd())) if user_can_answer() else None


unsealed.install(_shell(), _settled)
