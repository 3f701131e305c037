"""Runs each unit's source notebook from top to bottom and writes how long it took: `python -m bench.timings`.

    python -m bench.timings --write docs/course-timings.md              # all units
    python -m bench.timings --write docs/course-timings.md --unit 02-masks --unit 03-heads

Notebooks run with solutions and checks, each in a fresh kernel with one thread. Rows of units that were not run are
kept. The exit status is 1 if a cell stopped, a check gave less than full marks, or a unit took more than ten minutes
of processor time; each is named.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib.metadata import version
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course import units
from course.notebook import source_notebook
from tfkit_course.command_line import make_parser

LONGEST = 600.0  # seconds of processor time that a unit may take
CPU = """import resource as _r
print(sum(sum(_r.getrusage(who)[:2]) for who in (_r.RUSAGE_SELF, _r.RUSAGE_CHILDREN)))"""
HEAD = """| unit | seconds | of these in checks | slowest other cell | processor seconds | full marks | run on |
|---|---:|---:|---:|---:|---:|---|"""
ABOUT = """# How long each unit runs

Each source notebook from top to bottom, checks and experiments included, one thread. *Seconds* passed on a machine that
had other work as well; *processor seconds* are those of the notebook's kernel and of the processes that its checks
waited for, about what passes on a free machine. `make course-run` writes this page.
"""


@dataclass(frozen=True)
class Timing:
    """Seconds of one unit's run; `marks`: the checks with full marks, and the number of checks."""

    unit: str
    wall: float
    checks: float
    slowest: float
    cpu: float
    marks: tuple[int, int]
    machine: str
    stopped: str = ""  # the cell that raised, and its error; later cells were not run

    def row(self) -> str:
        """Its line of the table."""
        passed, total = self.marks
        numbers = f"{self.wall:.0f} | {self.checks:.0f} | {self.slowest:.0f} | {self.cpu:.0f}"
        marks = f"{passed} of {total}" if total else "no checks"  # the capstone is measured by a command of its own
        return f"| {self.unit} | {numbers} | {marks} | {date.today():%Y-%m-%d}, {self.machine} |"

    def faults(self) -> list[str]:
        """What went wrong in the run, as sentences."""
        if self.stopped:
            return [f"{self.unit}, {self.stopped}"]
        passed, total = self.marks
        found = [f"{self.unit}: {passed} of {total} checks gave full marks"] if passed < total else []
        return found + ([f"{self.unit}: {self.cpu:.0f} processor seconds"] if self.cpu > LONGEST else [])


def machine() -> str:
    """The machine, with its load average."""
    load = f", load {os.getloadavg()[1]:.0f}" if hasattr(os, "getloadavg") else ""  # not on Windows
    return f"{platform.machine()}, {os.cpu_count()} cores{load}, torch {version('torch').partition('+')[0]}"


def run(notebook: NotebookNode, timeout: int = 1800) -> Timing:
    """Execute a unit's source notebook, up to the first exception in it."""
    notebook.cells.append(new_code_cell(CPU))
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": folder}})
        with contextlib.suppress(CellExecutionError):  # told by `stopped`
            client.execute(env=env)
    code = [cell for cell in notebook.cells if "execution" in cell.metadata]
    stopped = error(code[-1])
    spent = [(cell.metadata.get("tfkit", {}).get("role"), seconds(cell)) for cell in code]
    checks = [cell for cell in code if cell.metadata.get("tfkit", {}).get("role") == "check"]
    return Timing(
        unit=notebook.metadata.tfkit.unit,
        wall=sum(time for _, time in spent),
        checks=sum(time for role, time in spent if role == "check"),
        slowest=max((time for role, time in spent if role != "check"), default=0.0),
        cpu=0.0 if stopped else float(code[-1].outputs[0].text),
        marks=(sum(has_full_marks(cell) for cell in checks), len(checks)),
        machine=machine(),
        stopped=stopped,
    )


def error(cell: NotebookNode) -> str:
    """The exception of an executed cell, in one line; empty if it raised none."""
    raised = [out for out in cell.outputs if out.output_type == "error"]
    return f"cell {cell.id}: {raised[0].ename}: {raised[0].evalue.splitlines()[0]}" if raised else ""


def seconds(cell: NotebookNode) -> float:
    """The run time of an executed cell."""
    times = cell.metadata.execution
    start, end = (times[name].replace("Z", "+00:00") for name in ("iopub.execute_input", "shell.execute_reply"))
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def has_full_marks(cell: NotebookNode) -> bool:
    """Whether the verdict of a check cell gives all its points."""
    pages = [out.get("data", {}).get("text/html", "") for out in cell.outputs]
    found = re.search(r">([\d.]+) of ([\d.]+)</b> points?", " ".join(pages))
    return found is not None and found[1] == found[2]


def merge_rows(page: str, new: Sequence[Timing]) -> str:
    """The page with these rows in place of those of the same units, in the order of the course; sections below the
    table are kept."""
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if re.match(r"\| \d\d-", line)}
    rows |= {timing.unit: timing.row() for timing in new}
    _, mark, sections = page.partition("\n## ")
    return "\n".join([ABOUT, HEAD, *(rows[name] for name in sorted(rows))]) + "\n" + mark + sections


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = make_parser(
        "bench.timings",
        """
        Run the source notebook of each unit from top to bottom, with one thread, and print how long it takes.
        """,
        exits={
            0: "every unit ran with full marks within ten minutes of processor time",
            1: "a cell stopped, a check gave less than full marks, or a unit took longer",
        },
        examples=("python -m bench.timings --unit 03-heads",),
    )
    parser.add_argument("--unit", action="append", metavar="NAME", help="only this unit (may be repeated)")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the rows into the table in this file, one unit at a time"
    )
    options = parser.parse_args(arguments)
    folders = {folder.name: folder for folder in units()}
    if unknown := [name for name in options.unit or () if name not in folders]:
        parser.exit(1, f"bench.timings: no unit is called {unknown[0]!r}; available: {', '.join(folders)}\n")
    faults = []
    for name in options.unit or folders:
        timing = run(source_notebook(folders[name]))
        faults += timing.faults()
        print(timing.stopped or timing.row(), flush=True)
        if options.write and not timing.stopped:  # after each, so that nothing is lost
            before = options.write.read_text(encoding="utf-8") if options.write.exists() else ""
            options.write.write_text(merge_rows(before, [timing]), encoding="utf-8")
    print("\n".join(f"✗ {fault}" for fault in faults) or "no unit takes longer than ten minutes")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
