"""What the lab draws of a lesson without a kernel: its predictions, and which set-up cells are the course's own.

A lab runs the set-up when a lesson is opened, as reading mode folds it away. Jupyter never runs code of a notebook that
is only opened, which may be anybody's: so only cells are run whose code stands in the installed course.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.exercises import registry
from autograder.exercises.parse import parse_source
from tfkit_course.small_file import NOTEBOOK_BYTES, NotSmallFile, notebook_cells, read_small_json
from tfkit_lab import prediction_card, sealed
from tfkit_lab.questions import Question, check_answers, choice, mask, number, numbers, shape

KINDS: dict[str, Callable[..., Question]] = {
    "number": number,
    "numbers": numbers,
    "shape": shape,
    "choice": choice,
    "mask": mask,
}
CHECK_IMPORT = "from autograder import check"
_sealing = threading.Lock()  # a prediction is made once, and requests are answered in several threads


class NoLesson(ValueError):
    """The file is not a notebook of a course, or asks for no such prediction; the message says which."""


def read_lesson(path: Path) -> dict[str, Any]:
    """`{"predictions": [{"cell", "name", "questions", "sure", "card"}…], "setup": [cell id…]}`.

    sure: the steps of "how sure are you?", or None where that is not asked; card: of a sealed prediction as HTML, or
    None. Raises NoLesson for a file that is no notebook of a course.
    """
    cells, unit = _cells(path)
    entries = sealed.read(path.parent)
    asked = []
    for key, name, questions, sure in _predictions(cells):
        entry = entries.get(name)
        card = None if entry is None else prediction_card.html(name, entry)
        asked.append({"cell": key, "name": name, "questions": questions, "card": card,
                      "sure": list(sealed.SURE) if sure else None})  # fmt: skip
    return {"predictions": asked, "setup": own_setup(cells, lesson_text(unit))}


def seal(path: Path, name: str, answers: Any, sure: Any = None) -> str:
    """Seal the answers to a prediction of this notebook, or None to skip it; the card as HTML.

    Raises NoLesson for an unknown prediction, ValueError for answers that do not fit or a second try, OSError if the
    folder cannot be written.
    """
    cells, _ = _cells(path)
    found = [questions for _, one, questions, _ in _predictions(cells) if one == name]
    if not found:
        raise NoLesson(f"{path.name} asks for no prediction {name}: fetch the notebook again")
    checked = None if answers is None else check_answers(found[0], answers)
    with _sealing:
        entry = sealed.seal(path.parent, name, found[0], checked, sure)
    return prediction_card.html(name, entry)


def own_setup(cells: Iterable[dict[str, Any]], lesson: str) -> list[str]:
    """The ids of the set-up cells each of which is a whole set-up cell of the unit's lesson, too."""
    ours = {source for _, source in _setup(_percent(lesson))}
    return [key for key, source in _setup(cells) if source in ours or _imports_check(source)]


def _setup(cells: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The id and source of each code cell between the title and the next text."""
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            yield str(cell.get("id", index)), "".join(cell["source"]).strip()
        elif index:
            return


def _percent(lesson: str) -> Iterator[dict[str, Any]]:
    """The cells of a lesson in jupytext's percent format, as far as set-up needs them: their type and source."""
    for text in re.split(r"^# %%", lesson, flags=re.MULTILINE)[1:]:
        head, _, source = text.partition("\n")
        yield {"cell_type": "markdown" if "[markdown]" in head else "code", "source": source}


def _imports_check(source: str) -> bool:
    return source.partition("#")[0].strip() == CHECK_IMPORT and "\n" not in source


def lesson_text(unit: str) -> str:
    """The lesson of a unit of an installed course, in percent format; empty if there is none.

    A unit need not have exercises, as the capstone has none: it lies beside one that has.
    """
    beside = {exercise.folder.parent for exercise in registry.exercises() if exercise.folder}
    folders = [folder for one in beside if one.is_dir() for folder in one.iterdir() if folder.name == unit]
    files = [folder / "lesson.py" for folder in folders]
    return next((file.read_text(encoding="utf-8") for file in files if file.is_file()), "")


def _cells(path: Path) -> tuple[list[dict[str, Any]], str]:
    try:
        notebook = read_small_json(path.resolve(), NOTEBOOK_BYTES)
        return notebook_cells(notebook), str(notebook["metadata"]["tfkit"]["unit"])
    except NotSmallFile as error:
        raise NoLesson(f"{path.name} cannot be read: {error}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoLesson(f"{path.name} is not a notebook of a course") from error


def _predictions(cells: Iterable[dict[str, Any]]) -> Iterable[tuple[str, str, list[Question], bool]]:
    """The cell, name and questions of each prediction whose call can be read, and whether it asks how sure one is."""
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code" and cell["metadata"].get("tfkit", {}).get("role") == "predict":
            source = "".join(cell["source"])
            found = questions_in(source)
            if found is not None:
                yield str(cell.get("id", index)), *found, _asks_how_sure(source)


def questions_in(source: str) -> tuple[str, list[Question]] | None:
    """The name and the questions of `predict("…", predict.number("…"), …)`; None unless all of it is written out."""
    try:
        calls = [node.value for node in parse_source(source).body if isinstance(node, ast.Expr)]
        (call,) = [node for node in calls if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "predict"]
        name = ast.literal_eval(call.args[0])
        questions = [_question(argument) for argument in call.args[1:]]
    except (SyntaxError, ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError):
        return None
    return (name, questions) if isinstance(name, str) and questions else None


def _asks_how_sure(source: str) -> bool:
    """Whether the call of `predict` in a source that has been read says `sure=True`."""
    calls = [node.value for node in parse_source(source).body if isinstance(node, ast.Expr)]
    named = [one for call in calls if isinstance(call, ast.Call) for one in call.keywords if one.arg == "sure"]
    return any(isinstance(one.value, ast.Constant) and one.value.value is True for one in named)


def _question(node: ast.expr) -> Question:
    """A question from its call, with literal arguments only. Raises ValueError, KeyError or TypeError for another."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        raise ValueError("not a question")
    arguments = [ast.literal_eval(one) for one in node.args]
    named = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    return KINDS[node.func.attr](*arguments, **named)
