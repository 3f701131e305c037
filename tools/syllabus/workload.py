"""How long a unit takes a student, estimated from what is in it: an estimate, for nobody's time has been measured."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course.notebook import source_notebook
from tools.syllabus import ROOT

WORDS, LINES = 200, 12  # read in a minute: text, and given code
PREDICTION, ANSWER = 1.5, 8.0  # minutes
EXERCISE, WRITTEN = 5.0, 1.5  # minutes to understand a task, and for each line of the reference
PROJECT = 210.0  # minutes for a project, which has no reference
MARKS = re.compile(r"### BEGIN MARK SCHEME.*?### END MARK SCHEME", re.DOTALL)
DOCSTRING = re.compile(r'"""[\s\S]*?"""')
ROW = re.compile(r"^\| (\d\d-[\w-]+) \|(?:[^|]*\|){3} (\d+) \|", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is in a unit; `seconds` of processor time for its cells, `written` lines of its references."""

    words: int = 0
    lines: int = 0
    predictions: int = 0
    answers: int = 0
    exercises: int = 0
    written: int = 0
    projects: int = 0
    seconds: int = 0

    @property
    def minutes(self) -> float:
        """The estimate."""
        reading = self.words / WORDS + self.lines / LINES
        asked = self.predictions * PREDICTION + self.answers * ANSWER + self.projects * PROJECT
        return reading + asked + self.exercises * EXERCISE + self.written * WRITTEN + self.seconds / 60


def workload(folder: Path) -> Workload:
    """What is in the unit of this folder."""
    cells = source_notebook(folder).cells
    text = " ".join(MARKS.sub("", cell.source) for cell in cells if cell.cell_type == "markdown")
    given = [cell.source for cell in cells if _role(cell) in ("setup", "demo", "experiment")]
    to_write = [cell.source for cell in cells if _role(cell) == "exercise"]
    roles = [_role(cell) for cell in cells]
    return Workload(
        words=len(text.split()),
        lines=sum(bool(line.strip()) for source in given for line in source.splitlines()),
        predictions=roles.count("predict"),
        answers=roles.count("task"),
        exercises=len(to_write),
        written=sum(map(_code_lines, to_write)),
        projects=roles.count("project"),
        seconds=processor_seconds().get(folder.name, 0),
    )


def processor_seconds() -> dict[str, int]:
    """Unit -> the processor time of its cells, as docs/course-timings.md has it."""
    page = (ROOT / "docs/course-timings.md").read_text(encoding="utf-8")
    return {unit: int(seconds) for unit, seconds in ROW.findall(page)}


def _role(cell: NotebookNode) -> str:
    return str(cell.metadata.get("tfkit", {}).get("role", ""))


def _code_lines(source: str) -> int:
    """The lines of a reference without its docstring, comments and imports."""
    lines = (line.strip() for line in DOCSTRING.sub("", source).splitlines())
    return sum(bool(line) and not line.startswith(("#", "from ", "import ")) for line in lines)
