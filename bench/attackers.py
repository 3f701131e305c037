"""What attackers cost a class: `python -m bench.attackers --students 40 --attackers 4`.

A class whose truth is known is graded by `autograder grade`, without the attackers and then with them. Printed are the
grades of the others that are not what they must be, the seconds, the grader's memory, and its line for each attacker.
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
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.attacks.stage import Attack, attacks
from autograder.exercises import registry
from autograder.nbgrader import config
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
FLAT = 1.1, 30.0  # times the grader's memory without attackers, and MB beside it, that count as flat


@dataclass(frozen=True)
class ClassRun:
    """One call of `autograder grade`: its seconds, the most memory that it held, and its lines."""

    seconds: float
    memory_mb: float
    lines: tuple[str, ...]

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
        started, memory, lines = time.monotonic(), 0.0, []
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        with subprocess.Popen(call, env=os.environ | {"PATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "300"},
                              stdout=subprocess.PIPE, text=True) as running:  # fmt: skip
            assert running.stdout is not None
            for line in running.stdout:
                memory = max(memory, _peak_mb(running.pid))
                lines += [line.rstrip()] if line[:1] in SIGNS else []
        if running.returncode:
            raise RuntimeError(f"{' '.join(call)} ended with {running.returncode}")
        return ClassRun(time.monotonic() - started, memory, tuple(lines))

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


def report(students: AttackedClass, before: ClassRun, after: ClassRun) -> list[str]:
    """The figures, then the grader's line for each attacker."""
    wrong, paid = students.wrong_grades(), students.paid()
    return [
        f"{len(students.honest)} students, {len(students.attackers)} attackers",
        f"wrong grades of the others: {len(wrong)}; attackers who were paid: {len(paid)}",
        *wrong, *paid,
        f"without attackers {before.seconds:.0f} s, with them {after.seconds:.0f} s "
        f"({after.seconds / before.seconds:.2f} times)",
        f"memory of the grader at most {before.memory_mb:.0f} MB, with attackers {after.memory_mb:.0f} MB",
        f"load of the machine in the last 15 minutes: {os.getloadavg()[2]:.1f}, of {os.cpu_count()} processors",
        *(line for name in students.attackers for line in after.lines_of(name)),
    ]  # fmt: skip


def faults(students: AttackedClass, before: ClassRun, after: ClassRun) -> list[str]:
    """What attackers cost the others or the grader, apart from time, which depends on who else uses the machine."""
    most = FLAT[0] * before.memory_mb + FLAT[1]
    grown = [f"the grader held {after.memory_mb:.0f} MB"] if after.memory_mb > most else []
    counts = ((name, len(after.lines_of(name))) for name in students.attackers)
    lines = [f"{name}: {count} lines of the grader" for name, count in counts if count != 1]
    return [*students.wrong_grades(), *students.paid(), *grown, *lines]


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if there is a fault: a grade of an honest student is wrong, an attacker was paid or has not one line, or the
    grader's memory grew."""
    parser: argparse.ArgumentParser = make_parser("bench.attackers", __doc__)
    parser.add_argument("--students", type=int, default=180, help="honest students (default: %(default)s)")
    parser.add_argument("--attackers", type=int, default=20, help="attackers besides (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes that grade (default: %(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        students = AttackedClass(Path(folder), options.students, {})
        before = students.grade(options.workers)
        students.attack(options.attackers)
        after = students.grade(options.workers)
        print("\n".join(report(students, before, after)))
        found = faults(students, before, after)
        print("\n".join(found))
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
