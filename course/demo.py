"""A whole class, from released notebooks to grades and feedback: `python -m course.demo [--dir demo]`.

Runs the stock nbgrader commands, one after the other, on a course built from the lessons and on the notebooks of
`mock_class`. Finished steps are not repeated, so it can be stopped and started at any time. `python -m course.demo
lab` opens the same course in JupyterLab, as a student sees it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from traitlets.config import Config

from autograder.api import Exercise
from autograder.nbgrader import config
from course import truth
from course.build import build
from course.mock_class import ALL, STUDENTS, MockStudent, hand_in, submit_one
from course.release import COURSE, NOT_FOR_STUDENTS, generate
from course.settings import unit_names
from course.truth import Outcome, Outcomes, exercises_of
from tfkit_course.command_line import make_parser

WIDTH = 110
OUTBOUND = "exchange/tfkit/outbound"


class DemoError(RuntimeError):
    """A step failed; the message says which, and where its log is."""


class Demo:
    """One course directory and the class that takes it."""

    def __init__(
        self,
        root: Path,
        students: Sequence[MockStudent] = STUDENTS,
        units: Sequence[str] = ALL,
        others: Sequence[str] = (),
    ) -> None:
        """`units`: the units that the class takes; `others`: others that only the lab shows."""
        self.root = root.resolve()
        self.students = students
        self.units = units
        self.others = others
        self.is_finished = False  # then no nbgrader command may run again
        self.console = Console(highlight=False)
        self.console.width = max(self.console.width, WIDTH)  # a pipe has 80, which is too few
        self.env = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",  # nbgrader calls alembic
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
            "PYTHONUNBUFFERED": "1",
            "TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR": "1",  # or nbgrader grades without a sandbox
        }

    def run(self) -> int:
        """Run all steps; returns 0 if each mock student got the expected result."""
        started = time.monotonic()
        self.take_steps()
        outcomes = self.outcomes()
        self.show(outcomes)
        wrong = self.differences(outcomes)
        for line in wrong:
            self.console.print(f"[bold red]✗[/] {escape(line)}")
        compared = f"{len(outcomes)} grades compared with the truth, {len(wrong)} faults"
        self.console.print(compared if wrong else f"[green]✓[/] {truth.summary(len(outcomes))}")
        self.console.print(f"  in {time.monotonic() - started:.0f} s")
        return 1 if wrong else 0

    def run_twice(self) -> int:
        """The same, then all steps once more. Raises DemoError if they would do again what is done."""
        status, outcomes = self.run(), self.outcomes()
        self.is_finished = True
        self.take_steps()
        if self.outcomes() != outcomes:
            raise DemoError("the grades are others after the steps were taken again")
        self.console.print("[green]✓[/] taken again, the steps keep what is there")
        return status

    # ------------------------------------------------------------------ the steps

    def take_steps(self) -> None:
        """All of them, from the lessons to the feedback; what is done is kept."""
        self.release()
        self.hand_in()
        for unit in self.units:
            self.grade(unit)

    def release(self) -> None:
        """Build the lessons, make the students' versions, put them into the exchange and into `student/`."""
        self.step("building the course from its lessons")
        self.root.mkdir(parents=True, exist_ok=True)
        config.install(self.root)
        build(self.root, [*self.units, *self.others])
        for unit in self.units:
            released = self.root / "release" / unit / f"{unit}.ipynb"
            if _older(released, self.root / "source" / unit / f"{unit}.ipynb"):
                self.nbgrader("generate_assignment", unit, "--force")
                self.nbgrader("release_assignment", unit, "--force")
            elif not (self.root / OUTBOUND / unit).exists():
                self.nbgrader("release_assignment", unit)
        for unit in self.others:
            if _older(self.root / "release" / unit / f"{unit}.ipynb", self.root / "source" / unit / f"{unit}.ipynb"):
                generate(self.root, unit)
        for unit in (*self.units, *self.others):
            students_copy = self.root / "student" / unit / f"{unit}.ipynb"
            if not students_copy.exists():
                students_copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.root / "release" / unit / f"{unit}.ipynb", students_copy)

    def hand_in(self) -> None:
        """Each student submits to the exchange, then the instructor collects."""
        self.step(f"submitting the notebooks of {len(self.students)} students")
        for student in self.students:
            for unit in self._units(student):
                inbox = self.root / "exchange" / COURSE / "inbound"
                if not list(inbox.glob(f"{student.name}+{unit}+*")):
                    home = self.root / "homes" / student.name
                    hand_in(student, unit, self.root / "release", home)
                    submit(self.root, home, student.name, unit)
        for unit in self.units:
            if any(not self._file("submitted", student, unit).exists() for student in self._takers(unit)):
                self.nbgrader("collect", unit, "--ExchangeCollect.check_owner=False")  # all are the same user here

    def grade(self, unit: str) -> None:
        """Autograde and write feedback; nbgrader itself skips submissions that are done."""
        takers = self._takers(unit)
        left = [student for student in takers if not self._file("autograded", student, unit).exists()]
        if left:
            self.step(f"grading {unit}: {len(left)} of {len(takers)} students")
            self.nbgrader("autograde", unit)
        if any(not self._file("feedback", student, unit, "html").exists() for student in takers):
            self.nbgrader("generate_feedback", unit)
            self.nbgrader("release_feedback", unit)

    def nbgrader(self, command: str, unit: str, *more: str) -> None:
        """Run the stock command in the course directory; its progress is shown, all of its output is logged.

        Raises DemoError if it fails, or if all steps were finished before.
        """
        if self.is_finished:
            raise DemoError(f"nbgrader {command} {unit} would run again, though nothing has changed")
        log = self.root / "logs" / f"{command}-{unit}.log"
        log.parent.mkdir(exist_ok=True)
        started = time.monotonic()
        self.console.print(f"  nbgrader {command} {unit}")
        call = [sys.executable, "-m", "nbgrader", command, unit, *more]
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                call, cwd=self.root, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            try:
                for line in process.stdout or ():
                    file.write(line)
                    self._echo(line)
                code = process.wait()
            finally:
                process.kill()  # only Ctrl-C leaves it running
        if code:
            raise DemoError(f"nbgrader {command} {unit} failed; its output is in {log}")
        self.console.print(f"    done in {time.monotonic() - started:.1f} s", style="dim")

    def _echo(self, line: str) -> None:
        if any(mark in line for mark in ("BoxedExecute", " · ", "no points lost")):
            self.console.print(f"    {line.split(']', 1)[-1].strip()}", markup=False, style="dim")
        elif "could not be read" in line or "Removed" in line or "needs grading by hand" in line:
            self.console.print(f"    {line.split(']', 1)[-1].strip()}", markup=False, style="yellow")

    def step(self, text: str) -> None:
        """Print the next step."""
        self.console.print(f"[bold]»[/] {text}")

    # ------------------------------------------------------------------ the outcome

    def outcomes(self) -> Outcomes:
        """(student, exercise) → the score in nbgrader's gradebook, with the message from the graded notebook."""
        found: Outcomes = {}
        for unit in self.units:
            found |= truth.outcomes(self.root, COURSE, unit, [student.name for student in self._takers(unit)])
        return found

    def differences(self, outcomes: Outcomes) -> list[str]:
        """The results of mock students that differ from the expected ones; empty if all are right."""
        lines = []
        for unit in self.units:
            takers = self._takers(unit)
            without = [one for one in takers if not self._file("feedback", one, unit, "html").exists()]
            lines += [f"{student.name} has no feedback for {unit}" for student in without]
            lines += truth.differences({student.name: student for student in takers}, unit, outcomes)
        return lines

    def show(self, outcomes: Outcomes) -> None:
        """Print the table, the totals, and the paths of the results."""
        shown = [exercise for unit in self.units for exercise in exercises_of(unit)]
        self.console.print(_grid(self.students, shown, outcomes))
        self.console.print(_legend(shown))
        self.console.print(_mistakes(self.students, shown, outcomes))
        self.console.print(self._totals())
        self.console.print(f"feedback   {self.root / 'feedback'}/STUDENT/UNIT/UNIT.html")
        self.console.print(f"gradebook  {self.root / 'gradebook.db'}")
        self.console.print("the lab    make lab   (JupyterLab on this course, as a student sees it)")

    def _totals(self) -> Table:
        from nbgrader.api import Gradebook

        table = Table(title="nbgrader's gradebook", title_justify="left")
        for name in ("assignment", "handed in", "mean score", "out of", "to mark by hand"):
            table.add_column(name, justify="left" if name == "assignment" else "right")
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", COURSE) as gradebook:
            for unit in self.units:
                handed_in = gradebook.assignment_submissions(unit)
                waiting = sum(submission.needs_manual_grade for submission in handed_in)
                mean, most = gradebook.average_assignment_score(unit), gradebook.find_assignment(unit).max_score
                table.add_row(unit, str(len(handed_in)), f"{mean:.2f}", f"{most:g}", str(waiting))
        return table

    def _units(self, student: MockStudent) -> list[str]:
        return [unit for unit in student.units if unit in self.units]

    def _takers(self, unit: str) -> list[MockStudent]:
        return [student for student in self.students if unit in student.units]

    def _file(self, folder: str, student: MockStudent, unit: str, ending: str = "ipynb") -> Path:
        return self.root / folder / student.name / unit / f"{unit}.{ending}"


def submit(root: Path, home: Path, student: str, unit: str) -> None:
    """Hand the student's notebooks in to the exchange of the demo's course."""
    exchange = Config(root=str(root / "exchange"), cache=str(root / "exchange" / "cache"))
    settings = Config(CourseDirectory=Config(course_id=COURSE, root=str(root)), Exchange=exchange)
    submit_one(settings, home, student, unit)


def other_units(units: Sequence[str] = ALL) -> list[str]:
    """The course's units that are not in `units`, in its order."""
    return [unit for unit in unit_names() if unit not in units]


def _numbers(shown: Iterable[Exercise]) -> dict[str, str]:
    """Exercise → a short label such as `05b`: its unit and its position in it."""
    count: dict[str, int] = {}
    names = {}
    for exercise in shown:
        unit = exercise.unit[:2]
        names[exercise.id] = f"{unit}{'abcdefghij'[count.get(unit, 0)]}"
        count[unit] = count.get(unit, 0) + 1
    return names


def _grid(students: Sequence[MockStudent], shown: list[Exercise], outcomes: Outcomes) -> Table:
    table = Table(title="The class", title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("student", no_wrap=True)
    for name in _numbers(shown).values():
        table.add_column(name, justify="center", no_wrap=True)
    table.add_column("total", justify="right", no_wrap=True)
    for student in students:
        row = [outcomes.get((student.name, exercise.id)) for exercise in shown]
        total = sum(got.score for got in row if got), sum(got.max_score for got in row if got)
        table.add_row(student.name, *(_mark(got) for got in row), f"{total[0]:g}/{total[1]:g}")
    return table


def _mark(got: Outcome | None) -> str:
    if got is None:
        return ""
    if got.manual:
        return "[yellow]?[/]"
    if got.score == got.max_score:
        return "[green]✓[/]"
    return "[red]✗[/]" if got.score == 0 else f"[red]{got.score:.1f}[/]"


def _legend(shown: list[Exercise]) -> str:
    return "[dim]" + "  ".join(f"{number} {name}" for name, number in _numbers(shown).items()) + "[/]"


def _mistakes(students: Sequence[MockStudent], shown: list[Exercise], outcomes: Outcomes) -> Table:
    table = Table(title="What the graders named", title_justify="left")
    for name in ("student", "what they did", "exercise", "score"):
        table.add_column(name, no_wrap=True)
    table.add_column("misconception, or what stopped it", overflow="fold")
    for student in students:
        for exercise in shown:
            got = outcomes.get((student.name, exercise.id))
            if got and (got.manual or got.score < got.max_score):
                words = (
                    got.misconception or got.reason.strip().partition("\n")[0][:80] or "wrong, mistake not identified"
                )
                score = f"{got.score:g}/{got.max_score:g}"
                table.add_row(student.name, student.description, exercise.id, score, escape(words))
    return table


def _older(made: Path, source: Path) -> bool:
    return not made.exists() or made.stat().st_mtime < source.stat().st_mtime


def lab(root: Path, arguments: Sequence[str]) -> None:
    """Replace this process by JupyterLab on the released notebooks. Does not return."""
    demo = Demo(root, units=(), others=other_units(()))  # no unit goes through the exchange: that takes half a minute
    demo.release()
    home = demo.root / "student"
    call = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={home}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        call.append("--allow-root")  # a container
    os.chdir(home)
    paths = filter(None, (str(_students_lab(demo.root)), os.environ.get("JUPYTER_CONFIG_PATH")))
    environment = {"PATH": demo.env["PATH"], "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}
    os.execve(sys.executable, [*call, *arguments], os.environ | environment)


def _students_lab(root: Path) -> Path:
    """Write JupyterLab's settings without the instructors' plugins and without its question about news."""
    page = root / "lab-settings" / "labconfig" / "page_config.json"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(json.dumps({"disabledExtensions": dict.fromkeys(NOT_FOR_STUDENTS, True)}), encoding="utf-8")
    return page.parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 if every mock student got the expected result."""
    parser = _parser()
    options, more = parser.parse_known_args(arguments)
    if options.action == "lab":
        lab(options.dir, more)
    if more:
        parser.error(f"unknown: {' '.join(more)}")
    try:
        demo = Demo(options.dir, others=other_units())
        return demo.run_twice() if options.again else demo.run()
    except DemoError as error:
        print(f"course.demo: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ncourse.demo: stopped; run it again to go on from here", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(
        "course.demo",
        """
        Run a mock class in a course directory of its own: build and release the notebooks, let right, wrong and
        cheating students submit, grade them, release the feedback, and compare every verdict with the expected one.
        `lab` opens JupyterLab on that course as a student sees it; further arguments are passed on to JupyterLab.
        """,
        exits={
            0: "every student got the expected result",
            1: "one did not",
            2: "a command failed",
            130: "stopped by Ctrl-C",
        },
        examples=(
            "python -m course.demo",
            "python -m course.demo --again",
            "python -m course.demo lab --no-browser",
        ),
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("run", "lab"),
        default="run",
        help="run the class, or open JupyterLab (default: %(default)s)",
    )
    parser.add_argument(
        "--dir", type=Path, default=Path("demo"), metavar="DIR", help="the course directory (default: %(default)s)"
    )
    parser.add_argument(
        "--again", action="store_true", help="take the steps once more, and fail if they do again what is done"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
