"""What attackers cost a class: `python -m bench.attackers --students 40 --attackers 4`.

A class whose truth is known is graded by `autograder grade`, without the attackers and then with them. Printed are the
grades of the others that are not what they must be, the seconds, the grader's memory, and its line for each attacker.
Each of the two is stored as soon as it is measured; `--resume` goes on after the first, and `--write` puts the figures
on a page.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil

from autograder.api import Limits
from autograder.attacks.stage import Attack, attacks
from autograder.exercises import registry
from autograder.nbgrader import config
from autograder.settings import course_file
from bench.grading import ATTACKERS as HEADING
from bench.grading import GRADING
from bench.kept import KeptRows, Row, add_options, environment, told
from bench.models import with_section
from course import truth
from course.build import build
from course.mock_class import FIRST, STUDENTS, MockStudent, answer, hand_in
from course.release import COURSE, generate
from tfkit_course.command_line import make_parser

ANSWERED = "rnn.cell"
ATTACKERS = [  # what takes time, memory, processes or the channel; none needs to know the machine
    "resources-endless", "processes-fork-bomb", "output-flood", "resources-memory-of-children", "frames-garbage",
    "resources-answer-huge", "scoring-subclass-agrees", "processes-daemon", "resources-sleeps",
    "kernel-stack-overflowed",
]  # fmt: skip
SIGNS = "✓✗?○"  # that begin the line of a submission
TOLD = 10  # submissions between two lines of progress
FLAT = 1.1, 30.0  # times the grader's memory without attackers, and MB beside it, that count as flat


@dataclass(frozen=True)
class ClassRun:
    """One call of `autograder grade`: its seconds, those of the processor in all its processes until the last
    submission, the most memory that it held, its lines, and what is wrong with the grades (`wrong`, `paid`)."""

    seconds: float
    memory_mb: float
    lines: tuple[str, ...]
    cpu_s: float = 0.0
    wrong: tuple[str, ...] = ()
    paid: tuple[str, ...] = ()

    def lines_of(self, student: str) -> list[str]:
        """The lines that name the student."""
        return [line for line in self.lines if student in line.split()]


class AttackedClass:
    """A course with so many honest students; `attack` adds the attackers. limits: of `BoxedExecute`."""

    def __init__(self, root: Path, students: int, limits: dict[str, float]) -> None:
        self.root = root
        config.install(root)
        with (root / config.CONFIG).open("a", encoding="utf-8") as file:
            file.write(f"\nc.BoxedExecute.limits = {limits!r}\n")
        build(root, [FIRST])
        generate(root, FIRST)
        (root / course_file.FILE).write_text("[grading]\nagain = 0\n")  # each submission is graded once
        takers = [one for one in STUDENTS if FIRST in one.units and FIRST not in one.corrupt and not one.changes]
        self.honest: dict[str, MockStudent] = {f"s{n:03}": takers[n % len(takers)] for n in range(students)}
        for name, student in self.honest.items():
            hand_in(student, FIRST, root / "release", root / "submitted" / name)
        self.attackers: dict[str, Attack] = {}

    def attack(self, number: int) -> None:
        """Lets so many attackers hand in, spread over the class."""
        chosen = {one.name: one for one in attacks()}
        exercise = registry.find(ANSWERED)
        right = next(one for one in self.honest.values() if not one.wrong and not one.edge)
        for n in range(number):
            played = chosen[ATTACKERS[n % len(ATTACKERS)]]
            name = f"s{n * len(self.honest) // number:03}-attacks"  # in the order of names, which is that of grading
            path = hand_in(right, FIRST, self.root / "release", self.root / "submitted" / name)
            nb = nbformat.read(path, as_version=4)
            answer(nb, exercise).source = played.cell({})
            nbformat.write(nb, path)
            self.attackers[name] = played

    def grade(self, workers: int) -> ClassRun:
        """Grades everybody, from a fresh start. Raises RuntimeError if the command fails."""
        for leftover in ("records.db", "records.lock"):
            (self.root / leftover).unlink(missing_ok=True)
        shutil.rmtree(self.root / "autograded", ignore_errors=True)
        call = [sys.executable, "-m", "autograder", "grade", str(self.root), FIRST, "--workers", str(workers)]
        everybody = len(self.honest) + len(self.attackers)
        started, cpu, memory, lines = time.monotonic(), 0.0, 0.0, list[str]()
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        with subprocess.Popen(call, env=os.environ | {"PATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "300"},
                              stdout=subprocess.PIPE, text=True) as running:  # fmt: skip
            assert running.stdout is not None
            for line in running.stdout:
                memory = max(memory, _peak_mb(running.pid))
                if line[:1] in SIGNS:
                    lines.append(line.rstrip())
                    cpu = max(cpu, _cpu_s(running.pid))
                    if len(lines) % TOLD == 0:
                        _tell(f"{len(lines)} of {everybody} graded, {time.monotonic() - started:.0f} s")
        if running.returncode:
            raise RuntimeError(f"{' '.join(call)} ended with {running.returncode}")
        seconds = time.monotonic() - started
        wrong, paid = tuple(self.wrong_grades()), tuple(self.paid())
        return ClassRun(seconds, memory, tuple(lines), cpu, wrong, paid)

    def wrong_grades(self) -> list[str]:
        """A line for each grade of an honest student that is not what it must be."""
        return truth.differences(self.honest, FIRST, truth.outcomes(self.root, COURSE, FIRST, self.honest))

    def paid(self) -> list[str]:
        """The attackers who got more for the attacked exercise than their code is worth."""
        found = truth.outcomes(self.root, COURSE, FIRST, self.attackers)
        return [f"{name}: {found[name, ANSWERED].score}" for name, played in self.attackers.items()
                if found[name, ANSWERED].score > played.worth]  # fmt: skip


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _cpu_s(pid: int) -> float:
    """Seconds of the processor of a process and of all below it, those that have ended included."""
    above, total = psutil.Process(pid), 0.0
    for process in (above, *above.children(recursive=True)):
        with suppress(psutil.Error):  # it has ended meanwhile
            total += sum(process.cpu_times()[:4])  # its own, then those of its children that have ended
    return total


def _tell(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)


class Attacked:
    """What was measured of a class without and with its attackers."""

    def __init__(self, students: int, attackers: Sequence[str], before: ClassRun, after: ClassRun) -> None:
        self.students, self.attackers, self.before, self.after = students, attackers, before, after

    def report(self) -> list[str]:
        """The figures, then the grader's line for each attacker."""
        before, after = self.before, self.after
        return [
            f"{self.students} students, {len(self.attackers)} attackers",
            f"wrong grades of the others: {len(after.wrong)}; attackers who were paid: {len(after.paid)}",
            *after.wrong, *after.paid,
            f"without attackers {before.seconds:.0f} s, with them {after.seconds:.0f} s "
            f"({after.seconds / before.seconds:.2f} times)",
            f"of the processor {before.cpu_s:.0f} s and {after.cpu_s:.0f} s",
            f"memory of the grader at most {before.memory_mb:.0f} MB, with attackers {after.memory_mb:.0f} MB",
            f"load of the machine in the last 15 minutes: {os.getloadavg()[2]:.1f}, of {os.cpu_count()} processors",
            *(line for name in self.attackers for line in after.lines_of(name)),
        ]  # fmt: skip

    def faults(self) -> list[str]:
        """What attackers cost the others or the grader, apart from time, which depends on who else uses the machine."""
        most = FLAT[0] * self.before.memory_mb + FLAT[1]
        grown = [f"the grader held {self.after.memory_mb:.0f} MB"] if self.after.memory_mb > most else []
        counts = ((name, len(self.after.lines_of(name))) for name in self.attackers)
        lines = [f"{name}: {count} lines of the grader" for name, count in counts if count != 1]
        return [*self.before.wrong, *self.after.wrong, *self.after.paid, *grown, *lines]

    def section(self, rows: Sequence[Row], here: Row) -> str:
        """The figures for a page, under HEADING."""
        before, after = self.before, self.after
        table = "\n".join(
            f"| {name} | {count} | {run.seconds:.0f} | {run.cpu_s:.0f} | {run.memory_mb:.0f} | {len(run.wrong)} |"
            for name, count, run in (("without attackers", self.students, before),
                                     ("with attackers", self.students + len(self.attackers), after))
        )  # fmt: skip
        each = (after.seconds - before.seconds) / max(len(self.attackers), 1)
        return SECTION.format(
            heading=HEADING, table=table, told=told(rows, here), attackers=len(self.attackers), unit=FIRST,
            times=after.seconds / before.seconds, each=each, paid=len(after.paid), workers=here["workers"],
            lines=sum(len(after.lines_of(name)) for name in self.attackers), call=Limits().call_s, wall=Limits().wall_s,
        )  # fmt: skip


SECTION = """{heading}
Measured by `python -m bench.attackers` on {told}.
Unit {unit}, {workers} workers; what each student of the class must get is known. Attackers hand in what takes time,
memory, processes or the channel without end (`ATTACKERS` in `bench/attackers.py`).

| | submissions | seconds | of the processor | MB of the grader | wrong grades |
|---|---|---|---|---|---|
{table}

With {attackers} attackers among them it took {times:.2f} times as long, {each:.1f} s for each attacker, who may use
the limits of time for each exercise: {call:g} s of a call and {wall:g} s in all, by default. Paid were {paid} of them;
the grader wrote {lines} lines about them.
"""


def measure(students: int, attackers: int, workers: int, kept: KeptRows) -> tuple[Attacked, list[Row]]:
    """Both runs, of which a stored one is not made again."""
    with tempfile.TemporaryDirectory() as folder:
        made = list[AttackedClass]()

        def group() -> AttackedClass:
            """The class, made when something is to be measured."""
            if not made:
                _tell(f"{students} students hand in")
                made.append(AttackedClass(Path(folder), students, {}))
            return made[0]

        def attacked() -> dict[str, Any]:
            """The second run, and who the attackers are."""
            group().attack(attackers)
            return asdict(group().grade(workers)) | {"attackers": list(group().attackers)}

        rows = [kept.row("without attackers", lambda: asdict(group().grade(workers))),
                kept.row("with attackers", attacked)]  # fmt: skip
    before, after = (dict(row["found"]) for row in rows)
    names = after.pop("attackers")
    return Attacked(students, names, _run_of(before), _run_of(after)), rows


def _run_of(found: dict[str, Any]) -> ClassRun:
    lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
    return ClassRun(**(found | lists))


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if there is a fault: a grade of an honest student is wrong, an attacker was paid or has not one line, or the
    grader's memory grew."""
    parser: argparse.ArgumentParser = make_parser("bench.attackers", __doc__)
    parser.add_argument("--students", type=int, default=180, help="honest students (default: %(default)s)")
    parser.add_argument("--attackers", type=int, default=20, help="attackers besides (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes that grade (default: %(default)s)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the section with these figures on this page")
    add_options(parser)
    options = parser.parse_args(arguments)
    size = {name: getattr(options, name) for name in ("students", "attackers", "workers")}
    here = environment(GRADING, **size)
    file = options.kept or Path("build") / f"bench-attackers-{options.students}-{options.attackers}.jsonl"
    found, rows = measure(**size, kept=KeptRows(file, here, options.resume))
    print("\n".join(found.report()))
    faults = found.faults()
    print("\n".join(faults))
    if options.write:
        options.write.write_text(with_section(options.write, found.section(rows, here)), encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
