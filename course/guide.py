"""Writes an instructor's guide for each unit of a course: `python -m course.guide DIR [--unit NAME …]`.

DIR is the course directory, as for course.build; the guides are its `instructors/NAME.md`. They repeat nothing by hand:
aims, questions and mark schemes come from the lesson, misconceptions from the collected wrong answers; minutes, points,
due dates and the selected exercises come from course.settings, as in the notebooks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.api import Exercise
from autograder.console import error_messages
from autograder.diagnosis.diagnose import known_answers
from autograder.exercises.answers import Answer
from autograder.feedback.text import count_text
from course import all_exercises, glossary, units
from course.notebook import SCHEME, source_notebook
from course.settings import LessonError, Unit, read
from course.variants import choices
from tfkit_course import replace_unencodable
from tfkit_course.command_line import make_parser

SKIPPED_HEADINGS = ("Reading", "Read on", "In your own words", glossary.TITLE)


def guide(folder: Path, unit: Unit) -> str:
    """The guide of one unit as the course gives it, as markdown. LessonError if its lesson cannot be built."""
    notebook = source_notebook(folder, unit)
    own = [exercise for exercise in all_exercises() if exercise.unit == folder.name]
    exercises = [exercise for exercise in own if unit.requires(exercise)]
    parts = [
        f"# {folder.name[:2]} · {unit.title}: for instructors",
        _overview(notebook, exercises, unit),
        *_drawn(folder),
        "## Aims\n\n" + "\n\n".join(_opening(notebook)),
        "## On the way\n\n" + "\n".join(f"- {title}" for title in _headings(notebook)),
        "## Exercises\n\n" + "\n".join(_exercises(own, unit)),
        "## Common misconceptions\n\n" + "\n\n".join(_misconceptions(exercise) for exercise in exercises),
        "## To discuss, or to mark\n\n" + "\n\n".join(_questions(notebook)),
    ]
    return "\n\n".join(parts) + "\n"


def _overview(notebook: NotebookNode, exercises: list[Exercise], unit: Unit) -> str:
    tasks = _tasks(notebook)
    code, words = sum(map(unit.points_of, exercises)), sum(task.metadata.nbgrader.points for task in tasks)
    planned = f"{unit.minutes:g} minutes planned · " if unit.minutes else ""
    due = f" · due {unit.due:%Y-%m-%d %H:%M %z}" if unit.due else ""
    collected = sum(len(known_answers(exercise)) for exercise in exercises)
    return (
        f"{planned}{count_text(len(exercises), 'exercise')}, {code:g} points, graded by the checks · "
        f"{count_text(len(tasks), 'question')}, {words:g} points, marked by you · "
        f"{count_text(collected, 'collected misconception')}{due}"
    )


def _drawn(folder: Path) -> Iterator[str]:
    """The section on what differs from student to student, if anything does."""
    if found := choices(folder):
        among = "; ".join(f"`{name}` from {_shown(values)}" for name, values in found.items())
        hint = f"`python -m course.variants {folder.name} STUDENT …` says who has which."
        yield f"Drawn from each student's name: {among}. {hint}"


def _shown(values: Sequence[Any]) -> str:
    return f"{values[0]} to {values[-1]}" if isinstance(values, range) else ", ".join(map(str, values))


def _opening(notebook: NotebookNode) -> Iterator[str]:
    """The lesson's first paragraphs, up to its first heading or code: the question, and what students build."""
    text = notebook.cells[0].source.partition("\n## ")[0]
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.strip() not in ("", glossary.POINTER) and not paragraph.startswith("# "):
            yield paragraph.strip()


def _headings(notebook: NotebookNode) -> list[str]:
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [title for title in re.findall(r"(?m)^## (.+)$", text) if title not in SKIPPED_HEADINGS]


def _exercises(own: list[Exercise], unit: Unit) -> Iterator[str]:
    yield "| exercise | | points | misconceptions |\n|---|---|---:|---:|"
    for e in own:
        points = f"{unit.points_of(e):g}" if unit.requires(e) else "given, solved"
        yield f"| `{e.id}` | {e.title} | {points} | {len(known_answers(e))} |"


def _misconceptions(exercise: Exercise) -> str:
    """Each collected wrong answer by its name, with the sentence that its student reads."""
    paths = known_answers(exercise)
    lines = [f"- `{path.stem}`: {_sentence(path)}" for path in paths]
    return "\n".join([f"### `{exercise.id}`: {len(paths)}", "", *lines])


def _sentence(path: Answer) -> str:
    sentence = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem.replace("_", " ")
    return sentence.strip().partition("\n")[0]


def _tasks(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("task")]


def _questions(notebook: NotebookNode) -> Iterator[str]:
    begin, end = SCHEME
    for task in _tasks(notebook):
        question, _, rest = task.source.partition(begin)
        body = "\n".join(line for line in question.splitlines() if not line.startswith("## ")).strip()
        scheme = rest.partition(end)[0].strip()
        yield f"{body} ({task.metadata.nbgrader.points:g} points)\n\nHow to mark it:\n\n{scheme}"


def write(course_dir: Path, names: list[str] | None = None) -> list[Path]:
    """Write `instructors/NAME.md` under `course_dir` for the named units, or for all of its course.toml.

    -> the written files. LessonError for an unknown unit, or for an error that course.settings finds.
    """
    folders = {folder.name: folder for folder in units()}
    if unknown := [name for name in names or () if name not in folders]:
        raise LessonError(f"no unit is called {unknown[0]!r}; available: {', '.join(folders)}")
    given = {unit.name: unit for unit in read(course_dir)}
    whole = {unit.name: unit for unit in read()}
    if not course_dir.is_dir():
        make = f"`python -m course.build {course_dir}` makes one"
        raise LessonError(f"there is no course in {course_dir}: {make}")
    directory = course_dir / "instructors"
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names or given:
        path = directory / f"{name}.md"
        path.write_text(guide(folders[name], given.get(name, whole[name])), encoding="utf-8")
        written.append(path)
    return written


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 with one line on stderr where a lesson is at fault."""
    replace_unencodable()
    parser = make_parser(
        "course.guide",
        """
        Write a guide for instructors for each unit, instructors/NAME.md in the course directory: its aims, minutes,
        points and due date, its questions with their mark schemes, and the misconceptions that the checks recognise.
        """,
        exits={0: "done", 1: "a lesson is faulty, or a file cannot be written; one line on standard error says which"},
        examples=("python -m course.guide my-course",),
    )
    parser.add_argument("directory", type=Path, metavar="COURSE_DIR", help="the nbgrader course directory")
    parser.add_argument("--unit", action="append", metavar="NAME", help="only this unit (may be repeated)")
    options = parser.parse_args(arguments)
    try:
        for path in write(options.directory, options.unit):
            print(f"wrote {path}")
    except LessonError as error:
        parser.exit(1, f"course.guide: {error}\n")
    except OSError as error:
        parser.exit(1, f"course.guide: {error_messages.explain(error, str(options.directory)) or error}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
