"""A unit's source notebook, made from its lesson.

A lesson (`units/NAME/lesson.py`, jupytext percent) marks each code cell with a role. Its exercise cells are empty:
`course.solution` fills them, and the check cell is added after them.

A cell with `role="predict"` is one call `predict("02.mask", …)` (tfkit_lab.predict), below its introduction; a
later cell has to compare it with the result, `predicted("02.mask").compare(…)`. The imports are added here.

A cell with `role="project" project="a-name" points=10` is code of the student's own that no exercise grades: nbgrader's
manually graded answer. Code between the solution marks is not released; `autograder capstone` measures the capstone's.

A cell with `role="hunt" hunt="masks.decoder" seed=3` becomes three (course.hunts): a bug hunt with its symptom, a cell
for what students hand in, and its verdict. The lesson's cell is the test with which it is solved. It earns no points.
Ids and names of a unit's further hunts end in their number: `hunt-2`, `faulty_2`.

A unit after the first opens with questions on earlier units (tfkit_lab.recall), below its set-up; `recall = false` in
course.toml leaves them out.

A markdown cell with `role="task" task="a-name" points=2` is a question that a person marks: nbgrader's task cell. What
stands in it between `### BEGIN MARK SCHEME` and `### END MARK SCHEME` is for markers only, and is not released.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.api import Exercise
from autograder.exercises.contracts import adapter, full_id
from autograder.ordering.make import has_puzzle
from course import all_exercises, glossary, hunts
from course.settings import LessonError, Unit
from course.solution import BEGIN, END, library_source, solution
from tfkit_course.formats import NOTEBOOK

ROLES = ("setup", "exercise", "demo", "experiment", "predict")
SCHEME = ("### BEGIN MARK SCHEME", "### END MARK SCHEME")
ANSWER = "*Your answer, in two to five sentences. It is read and marked by a person.*"
PREDICT_IMPORT = "from tfkit_lab.predict import predict"
MADE_IMPORT = "from tfkit_lab.predict import predictions_made"
PREDICTIONS_COUNT = """## Your predictions

Having predicted earns points; being right does not. The cell below counts the predictions of this unit."""
ASK_IMPORT = "from autograder import ask  # after an exercise has passed: two or three questions about your own code"
ANSWERED_IMPORT = "from autograder.questions.notebook import questions_answered"
QUESTIONS_COUNT = """## Questions about your code

The answers that you gave below the checks earn points if they say what your code does. When this notebook is graded,
the questions are made again from the code that you hand in: if you change code later, run its `ask(…)` once more. The
cell below counts the exercises whose questions you have answered."""
SURE_TEXT = """## How sure you were

How often did what you predicted come true, by how sure you were of it? Nothing of this counts."""
CONTRACT = """**Your contract.** This course asks for the exercise below in a form of its own. Where it differs from the
text, it is what counts:"""
CONTRACT_ENDS = """A cell below the exercise turns your code into the form of the text, in which the rest of the
notebook uses it."""
NOT_YOURS = """**This is not your copy.** In this course each student has a notebook of their own, which asks for some
exercises in another form, and only answers in that form count. Write in yours: your instructor has it."""
ORDERED = """## Lines in order instead of code

If you are stuck, `order(…)` shows the lines of a right answer, shuffled among lines of known mistakes. In this course
you may hand in an order of them in the place of code, for a part of the points. The answer's cell then holds nothing
but this:"""
ORDERED_CALL = """```python
from autograder import order

order("{exercise}").hand_in("3 1 2:1")
```

{worth}"""
SETUP = {"role": "setup"}
RECALL = """## Questions from before

Up to three questions on earlier units, a minute each. What you answer decides when a question comes back. Nothing here
counts, and you can skip it: go on with the next section."""
RECALL_IMPORT = "from tfkit_lab.recall import recall"
COMPARE_IMPORT = "from tfkit_lab.predict import predicted"
COMPARED = re.compile(r"predicted\(\"([^\"]+)\"\)")
COMPARING = re.compile(r"^(\w+ = )?predicted\(", re.MULTILINE)
CHECK_IMPORT = (
    'from autograder import check  # check("…") runs your cells once more and says what is right and what is not'
)


def source_notebook(folder: Path, unit: Unit | None = None) -> NotebookNode:
    """The source notebook of one unit as the course gives it (complete where `unit` is None), with stable cell ids."""
    lesson = folder / "lesson.py"
    if not lesson.exists():
        raise LessonError(
            f"unit {folder.name} has no lesson.py; write one in {folder.name}/ or leave the unit out with --unit"
        )
    own = {exercise.id: exercise for exercise in all_exercises() if exercise.unit == folder.name}
    cells = _Cells(unit or Unit(name=folder.name), own)
    for cell in _lesson_cells(lesson.read_text(encoding="utf-8")):
        cells.add(cell)
    cells.add_recall()
    cells.add_curve()
    cells.add_points_for_predictions()
    cells.add_points_for_questions()
    cells.add_glossary()
    cells.add_note_on_copies()
    ordered = cells.add_note_on_order()
    if left := [name for name in cells.predictions if name not in cells.compared]:
        how = f'guess = predicted("{left[0]}") and guess.compare(…)'
        raise LessonError(f"{folder.name}/lesson.py never compares {left[0]}: write {how} into a later cell")
    if left := [name for name in own if name not in cells.done]:
        raise LessonError(f"{folder.name}/lesson.py has no exercise cell for {', '.join(left)}")
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    due = unit.due.isoformat() if unit and unit.due else None
    tracks = [[one.name, one.title, len(one.units)] for one in unit.tracks.values()] if unit else []
    planned = {} if unit is None else {"minutes": unit.minutes, "due": due, "tracks": tracks or None}
    shown = {key: value for key, value in planned.items() if value is not None}  # the course's home page shows them
    counted: dict[str, Any] = {"exercises": cells.to_write}  # the panel counts these, even if a student loses cells
    counted["titles"] = {name: own[name].title for name in cells.to_write}  # and calls them as their verdicts do
    if cells.predictions:
        counted["predictions"] = cells.predictions
    if ordered:
        counted["ordered"] = {"share": cells.settings.ordered, "exercises": ordered}  # `hand_in` takes these
    tfkit = {"format": NOTEBOOK.version, "unit": folder.name, **counted, **shown}
    from ipykernel.ipkernel import IPythonKernel  # imported here, because it loads half of Jupyter

    language = dict(IPythonKernel.language_info)  # whole, or JupyterLab fills it in and the notebook counts as changed
    metadata = {"kernelspec": kernel, "language_info": language, "tfkit": tfkit}
    built = new_notebook(cells=cells.cells, metadata=metadata)
    nbformat.validate(built)
    return built


@lru_cache(maxsize=64)  # a build, its translations and the linter read the same lessons
def _lesson_cells(text: str) -> list[NotebookNode]:
    """The cells of a lesson as it is written. Whoever asks reads them, and changes none."""
    return jupytext.reads(text, fmt="py:percent").cells


class _Cells:
    """Turns a lesson's cells into the notebook's, with counters so that every id is stable and used once."""

    def __init__(self, settings: Unit, own: dict[str, Exercise]):
        self.settings, self.unit, self.own = settings, settings.name, own
        self.cells: list[NotebookNode] = []
        self.done: list[str] = []
        self.to_write: list[str] = []  # of these, the ones that students write
        self.predictions: list[str] = []
        self.compared: set[str] = set()
        self._count: dict[str, int] = {}

    def add(self, cell: NotebookNode) -> None:
        """Append the cells that `cell` becomes; after the title also the import of `check`."""
        if cell.cell_type == "markdown" and cell.metadata.get("role") == "task":
            self._add_task(cell.source, str(cell.metadata.get("task", "")), cell.metadata.get("points"))
        elif cell.cell_type == "markdown":
            self.cells.append(new_markdown_cell(cell.source, id=self._next("text")))
        elif cell.metadata.get("role") == "hunt":
            self._add_hunt(cell.source, str(cell.metadata.get("hunt", "")), cell.metadata.get("seed"))
        elif cell.metadata.get("role") == "project":
            self._add_project(cell.source, str(cell.metadata.get("project", "")), cell.metadata.get("points"))
        else:
            self._add_code(cell.source, cell.metadata.get("role"), cell.metadata.get("exercise"))
        if len(self.cells) == 1:
            self._add_code(CHECK_IMPORT, "demo", None)

    def add_recall(self) -> None:
        """Put questions on earlier units below the set-up, if there are any."""
        if not self.settings.earlier:
            return
        place = next((n for n, cell in enumerate(self.cells) if n and cell.cell_type == "markdown"), len(self.cells))
        names = "".join(f'    "{name}",\n' for name in self.settings.earlier)
        source = f'{RECALL_IMPORT}\n\nrecall("{self.unit}", after=[\n{names}])'
        asks = new_code_cell(source, id="recall", metadata={"tfkit": {"role": "recall"}})
        self.cells[place:place] = [new_markdown_cell(RECALL, id="recall-text"), asks]

    def add_curve(self) -> None:
        """Add how sure the student was of the predictions, if the course asks for that and the unit has some."""
        if self.settings.sure and self.predictions:
            shows = new_code_cell(
                f"{PREDICT_IMPORT}\n\npredict.curve()", id="sure", metadata={"tfkit": {"role": "demo"}}
            )
            self.cells += [new_markdown_cell(SURE_TEXT, id="sure-text"), shows]

    def add_points_for_predictions(self) -> None:
        """Add the graded cell that counts predictions, if the course gives points for them."""
        if not self.settings.predictions:
            return
        if not self.predictions:
            where = f"unit {self.unit} has predictions = {self.settings.predictions:g} in course.toml"
            raise LessonError(f"{where}, but its lesson asks for no prediction: delete the line")
        names = ", ".join(f'"{name}"' for name in self.predictions)
        marks = _nbgrader("predictions", grade=True, locked=True, points=self.settings.predictions)
        source = f"{MADE_IMPORT}\n\npredictions_made({names})"
        self._add_count(PREDICTIONS_COUNT, source, marks)

    def add_points_for_questions(self) -> None:
        """Add the graded cell that counts answers about one's own code, if the course gives points for them."""
        if not self.settings.questions:
            return
        if not self.to_write:
            where = f"unit {self.unit} has questions = {self.settings.questions:g} in course.toml"
            raise LessonError(f"{where}, but students write no code in it: delete the line")
        names = ", ".join(f'"{name}"' for name in self.to_write)
        marks = _nbgrader("questions", grade=True, locked=True, points=self.settings.questions)
        self._add_count(QUESTIONS_COUNT, f"{ANSWERED_IMPORT}\n\nquestions_answered({names})", marks)

    def _add_count(self, text: str, source: str, marks: dict) -> None:
        """A graded cell that counts what lies beside the notebook, below its explanation."""
        name = marks["grade_id"]
        self.cells.append(new_markdown_cell(text, id=f"{name}-count"))
        metadata = {"nbgrader": marks, "tfkit": {"role": name}}
        self.cells.append(new_code_cell(source, id=name, metadata=metadata))

    def add_glossary(self) -> None:
        """Add the unit's glossary at its end, and a note about it on the first page."""
        prose = "\n".join(cell.source for cell in self.cells if cell.cell_type == "markdown")
        if words := glossary.section(self.unit, prose):
            self.cells[0].source += f"\n\n{glossary.POINTER}"
            self.cells.append(new_markdown_cell(words, id="glossary"))

    def add_note_on_copies(self) -> None:
        """Say below the title of everybody's notebook that each student has another, where contracts are drawn so."""
        if self.settings.own_variants and any(self.own[name].contracts for name in self.to_write):
            self.cells.insert(1, new_markdown_cell(NOT_YOURS, id="not-yours"))

    def add_note_on_order(self) -> list[str]:
        """Say what an order of lines earns, if the course takes one as an answer; the exercises of which it does."""
        asked = [self.settings.asks_for(self.own[name]) for name in self.to_write] if self.settings.ordered else []
        taken = [full_id(exercise) for exercise in asked if has_puzzle(exercise)]
        if taken:
            worth = f"{', '.join(f'`{name}`' for name in taken)}: {100 * self.settings.ordered:g} %"
            text = "\n\n".join((ORDERED, ORDERED_CALL.format(exercise=taken[0], worth=worth)))
            later = list(enumerate(self.cells))[1 + (self.cells[1].id == "not-yours") :]  # whose copy it is comes first
            place = next((n for n, cell in later if cell.cell_type == "markdown"), 1)
            self.cells.insert(place, new_markdown_cell(text, id="ordered-text"))
        return taken

    def _add_code(self, source: str, role: str | None, exercise: str | None) -> None:
        if role not in ROLES:
            raise LessonError(
                f"{self.unit}/lesson.py: the cell {_first_line(source)!r} has role {role!r}; "
                f"use one of {', '.join(ROLES)}"
            )
        if role == "exercise":
            self._add_exercise(source, exercise)
            return
        if role == "predict":
            self._add_prediction(source)
            return
        if compared := COMPARED.findall(source):
            self.compared |= set(compared)
            source = COMPARING.sub(rf"{COMPARE_IMPORT}\n\g<0>", source, count=1)
        name = self._next(role)
        metadata: dict = {"tfkit": {"role": role}}
        if role == "setup":
            metadata["nbgrader"] = _nbgrader(name, locked=True)
        self.cells.append(new_code_cell(source, id=name, metadata=metadata))

    def _add_prediction(self, source: str) -> None:
        """Add the call with its import, so that the cell also runs in a fresh kernel."""
        where = f"{self.unit}/lesson.py: the prediction {_first_line(source)!r}"
        names = re.findall(r"^predict\(\s*\"([^\"]+)\"", source, re.MULTILINE)
        if len(names) != 1 or not names[0].startswith(f"{self.unit.partition('-')[0]}."):
            raise LessonError(f'{where} must be one call, predict("{self.unit.partition("-")[0]}.a-name", …)')
        if names[0] in self.predictions:
            raise LessonError(f"{where} is used twice: give each its own name")
        self.predictions.append(names[0])
        metadata = {"tfkit": {"role": "predict", "prediction": names[0]}}
        text = f"{PREDICT_IMPORT}\n\n{_asking_how_sure(source) if self.settings.sure else source}"
        self.cells.append(new_code_cell(text, id=f"predict-{names[0].partition('.')[2]}", metadata=metadata))

    def _add_task(self, source: str, name: str, points: object) -> None:
        """Add the question, followed by a cell for the student's answer."""
        where = f"{self.unit}/lesson.py: the task {name or _first_line(source)!r}"
        marks = _nbgrader(f"task-{name}", locked=True, task=True, points=points if _is_number(points) else None)
        if not name or "points" not in marks:
            raise LessonError(f'{where} needs a task and points on its line, such as task="a-name" points=2')
        if any(source.count(mark) != 1 for mark in SCHEME):
            raise LessonError(f"{where} needs one mark scheme, between {' and '.join(SCHEME)}")
        if any(cell.id == marks["grade_id"] for cell in self.cells):
            raise LessonError(f"{where} is used twice: give each its own name")
        metadata = {"nbgrader": marks, "tfkit": {"role": "task"}}
        self.cells.append(new_markdown_cell(source, id=marks["grade_id"], metadata=metadata))
        self.cells.append(new_markdown_cell(ANSWER, id=f"answer-{name}"))

    def _add_project(self, source: str, name: str, points: object) -> None:
        """Add a cell for the student's code that is graded manually or by a separate command."""
        where = f"{self.unit}/lesson.py: the project {name or _first_line(source)!r}"
        marks = _nbgrader(f"project-{name}", points=points if _is_number(points) else None, grade=True, solution=True)
        if not name or "points" not in marks:
            raise LessonError(f'{where} needs a project and points on its line, such as project="a-name" points=10')
        if not source.count(BEGIN) or source.count(BEGIN) != source.count(END):
            raise LessonError(f"{where} needs a solution, between {BEGIN} and {END}")
        if any(cell.id == marks["grade_id"] for cell in self.cells):
            raise LessonError(f"{where} is used twice: give each its own name")
        metadata = {"nbgrader": marks, "tfkit": {"role": "project"}}
        self.cells.append(new_code_cell(source, id=marks["grade_id"], metadata=metadata))

    def _add_hunt(self, source: str, subject: str, seed: object) -> None:
        """Add the hunt, a cell for what is handed in, and its verdict; names of further ones end in their number."""
        where = f"{self.unit}/lesson.py: the hunt {subject or _first_line(source)!r}"
        if not isinstance(seed, int):
            raise LessonError(f'{where} needs a hunt and a seed on its line, such as hunt="masks.decoder" seed=3')
        number = self._number("hunt")
        dash, tail = ("", "") if number == 1 else (f"-{number}", f"_{number}")
        if subject in self.own:
            subject = full_id(self.settings.asks_for(self.own[subject]))
        shown, answer, verdict = hunts.cells(subject, self.unit, seed, source, where, tail)
        marks = _nbgrader(f"hunt-answer{dash}", solution=True)
        self.cells.append(new_code_cell(shown, id=f"hunt{dash}", metadata={"tfkit": {"role": "hunt"}}))
        metadata = {"nbgrader": marks, "tfkit": {"role": "hunt-answer"}}
        self.cells.append(new_code_cell(answer, id=marks["grade_id"], metadata=metadata))
        self.cells.append(new_code_cell(verdict, id=f"hunt-verdict{dash}", metadata={"tfkit": {"role": "hunt"}}))

    def _add_exercise(self, source: str, exercise_id: str | None) -> None:
        if exercise_id not in self.own or exercise_id in self.done:
            raise LessonError(
                f"{self.unit}/lesson.py: exercise={exercise_id!r} is not an exercise of this unit, or comes "
                f"twice; the unit has {', '.join(self.own)}"
            )
        if source.strip():
            raise LessonError(f"{self.unit}/lesson.py: the cell of {exercise_id} must be empty: the build fills it")
        exercise = self.settings.asks_for(self.own[exercise_id])
        self.done.append(exercise_id)
        if not self.settings.requires(exercise):
            self._add_code(library_source(exercise), "setup", None)
            return
        self.to_write.append(exercise_id)
        tail = exercise_id.replace(".", "-")
        if exercise.contract:
            text = "\n\n".join((CONTRACT, exercise.contract.sentence, CONTRACT_ENDS))
            self.cells.append(new_markdown_cell(text, id=f"contract-{tail}"))
        for role, text, marks in (
            ("exercise", solution(exercise), _nbgrader(f"solution-{tail}", solution=True)),
            (
                "check",
                f'from autograder import check\n\ncheck("{full_id(exercise)}")',  # also runs in a new kernel
                _nbgrader(f"check-{tail}", grade=True, locked=True, points=self.settings.points_of(exercise)),
            ),
        ):
            metadata = {"nbgrader": marks, "tfkit": {"role": role, "exercise": exercise_id}}
            self.cells.append(new_code_cell(text, id=marks["grade_id"], metadata=metadata))
        if exercise.contract:
            marks = _nbgrader(f"course-form-{tail}", locked=True)
            text = adapter(exercise).rstrip()
            self.cells.append(new_code_cell(text, id=marks["grade_id"], metadata={"nbgrader": marks, "tfkit": SETUP}))
        if self.settings.questions:
            source = f'{ASK_IMPORT}\n\nask("{full_id(exercise)}")'
            metadata = {"tfkit": {"role": "ask", "exercise": exercise_id}}
            self.cells.append(new_code_cell(source, id=f"ask-{tail}", metadata=metadata))

    def _next(self, kind: str) -> str:
        return f"{kind}-{self._number(kind)}"

    def _number(self, kind: str) -> int:
        """How many of this kind there are with the one that is now added."""
        self._count[kind] = self._count.get(kind, 0) + 1
        return self._count[kind]


def _nbgrader(grade_id: str, *, points: Any = None, **flags: bool) -> dict:
    """nbgrader's marks of a cell, complete; `flags` are those of grade, locked, solution and task that hold."""
    marks: dict = {"grade": False, "grade_id": grade_id, "locked": False}
    if points is not None:
        marks["points"] = points
    return marks | {"schema_version": 3, "solution": False, "task": False} | flags


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _first_line(source: str) -> str:
    return source.strip().partition("\n")[0][:60]


def _asking_how_sure(source: str) -> str:
    """The call of `predict` that ends a cell, with `sure=True`."""
    call = ast.parse(source).body[-1]
    lines = source.splitlines()[: call.end_lineno]
    return "\n".join(lines).rstrip().removesuffix(")").rstrip().removesuffix(",") + ", sure=True)"
