"""How fast a class is graded: `python -m bench.grading [--write docs/benchmarks-grading.md]`.

The same submissions go through stock nbgrader (its own kernel and preprocessors, plain asserts in the check cells, no
sandbox), Otter (the same asserts in its test files, no container), `nbgrader autograde` with our configuration, and
`autograder grade`. All are measured in one run, one after the other, so that the ratios are of the same machine;
`--resume` continues an interrupted run.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbformat import NotebookNode
from rich.console import Console

from autograder.nbgrader import config
from bench.kept import MEASURED, KeptRows, add_options, environment, kept_file
from course import exercises, truth
from course.build import build
from course.mock_class import HEADS, STUDENTS, MockStudent, check_cell, hand_in
from course.release import COURSE
from course.truth import WrongGrade
from tfkit_course.command_line import make_parser

UNIT = HEADS
GRADING = (*MEASURED, "autograder", "course")  # the folders whose code is measured
ATTACKERS = "## A class with attackers"  # heading of the section that bench.attackers writes
STOCK = """c = get_config()
c.CourseDirectory.course_id = "stock"
c.Execute.timeout = 600
c.Execute.iopub_timeout = 60
"""
PLAIN = {  # what an instructor would write without autograder: two random cases each, compared with the library
    "attention.split_heads": """
import torch, tfkit.nn
torch.manual_seed(0)
for heads, width in ((2, 3), (4, 2)):
    x = torch.randn(2, 5, heads * width)
    torch.testing.assert_close(split_heads(x, heads), tfkit.nn.attention.split_heads(x, heads))
    torch.testing.assert_close(merge_heads(split_heads(x, heads)), x)
""",
    "attention.multi_head": """
import torch, tfkit.nn
torch.manual_seed(0)
for width, heads in ((12, 3), (8, 4)):
    student, reference = MultiHeadAttention(width, heads), tfkit.nn.attention.MultiHeadAttention(width, heads)
    student.load_state_dict(reference.state_dict())
    x, mask = torch.randn(2, 5, width), torch.ones(5, 5, dtype=torch.bool).tril()
    for arguments in ((x, x, x), (x, x, x, mask)):
        want, got = reference(*arguments), student(*arguments)
        first = lambda value: value[0] if isinstance(value, tuple) else value
        torch.testing.assert_close(first(got), first(want), atol=1e-5, rtol=1e-5)
""",
}

OTTER_TEST = """from otter.test_files import test_case

OK_FORMAT, name, points = False, "{name}", {points}


@test_case()
def test({wants}):
{body}
"""
BENCH_EXERCISES = [exercise for exercise in exercises() if exercise.unit == UNIT]


@dataclass(frozen=True)
class BenchTiming:
    """One way of grading, with its time and memory."""

    name: str
    submissions: int
    seconds: float
    cpu_s: float = 0.0  # of the command and its children, without boxes
    memory: tuple[float, ...] = ()  # of the grader, in MiB, while its records arrived
    compared: int = 0  # grades that were compared with the truth; a wrong one ends the benchmark

    @property
    def rate(self) -> float:
        """Submissions per minute."""
        return 60 * self.submissions / self.seconds


class Bench:
    """A folder with the same class in a course configured by this repository and in a stock one."""

    def __init__(self, folder: Path, number: int, console: Console) -> None:
        self.course, self.stock, self.otter_ = folder / "course", folder / "stock", folder / "otter"
        self.number, self.console = number, console
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        self.env = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"}
        self.takers = [student for student in STUDENTS if UNIT in student.units and UNIT not in student.corrupt]

    # -- the class -----------------------------------------------------------------------------------------------------
    def prepare(self) -> None:
        """Build, release and hand in; the stock course gets the same notebooks with plain tests."""
        config.install(self.course)
        build(self.course, [UNIT])
        self._nbgrader(self.course, "generate_assignment")
        source = nbformat.read(self.course / "source" / UNIT / f"{UNIT}.ipynb", as_version=4)
        self._write(self.stock / "source" / UNIT / f"{UNIT}.ipynb", _plain(source))
        (self.stock / "nbgrader_config.py").write_text(STOCK)
        self._nbgrader(self.stock, "generate_assignment")
        for n in range(self.number):
            student, home = self._student(n), f"s{n:03}"
            path = hand_in(student, UNIT, self.course / "release", self.course / "submitted" / home)
            self._write(self.stock / "submitted" / home / UNIT / path.name, _plain(nbformat.read(path, as_version=4)))

    def _student(self, number: int) -> MockStudent:
        return self.takers[number % len(self.takers)]

    def _compared(self, share: int = 1) -> int:
        """How many grades of our course are what they must be. Raises WrongGrade if one is not."""
        students = {f"s{n:03}": self._student(n) for n in range(0, self.number, share)}
        found = truth.outcomes(self.course, COURSE, UNIT, students)
        if wrong := truth.differences(students, UNIT, found):
            raise WrongGrade("\n".join(wrong))
        return len(found)

    def _write(self, path: Path, nb: NotebookNode) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(nb, path)

    def _nbgrader(self, course: Path, command: str, *more: str) -> None:
        call = [sys.executable, "-m", "nbgrader", command, UNIT, *more]
        done = subprocess.run(call, cwd=course, env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"nbgrader {command} failed: {done.stderr[-2000:]}")

    # -- the contestants -----------------------------------------------------------------------------------------------
    def nbgrader(self, name: str, course: Path, share: int) -> BenchTiming:
        """The stock command, one submission after the other, on the first of `share`."""
        some = [f"s{n:03}" for n in range(0, self.number, share)]
        others = ",".join(f"s{n:03}" for n in range(self.number) if n % share)
        started, before = time.monotonic(), _children_cpu()
        self._nbgrader(course, "autograde", *([f"--CourseDirectory.student_id_exclude={others}"] if others else []))
        seconds, cpu = time.monotonic() - started, _children_cpu() - before
        compared = self._compared(share) if course == self.course else 0
        return self._print_timing(BenchTiming(name, len(some), seconds, cpu, compared=compared))

    def otter(self, name: str, share: int) -> BenchTiming:
        """`otter run`, one submission after the other, on the first of `share`. Raises RuntimeError if one fails."""
        self._otter_zip()
        some = [f"s{n:03}" for n in range(0, self.number, share)]
        for student in some:
            nb = nbformat.read(self.stock / "submitted" / student / UNIT / f"{UNIT}.ipynb", as_version=4)
            for exercise in BENCH_EXERCISES:
                check_cell(nb, exercise).source = ""  # its tests are in its files
            self._write(self.otter_ / student / f"{UNIT}.ipynb", nb)
        started, before = time.monotonic(), _children_cpu()
        for student in some:
            folder = self.otter_ / student
            self._otter(folder, "run", "--no-logo", "-a", "../autograder.zip", f"{UNIT}.ipynb")
            if not (folder / "results.json").exists():
                raise RuntimeError(f"otter left no result for {student}")
        return self._print_timing(BenchTiming(name, len(some), time.monotonic() - started, _children_cpu() - before))

    def _otter_zip(self) -> None:
        tests = self.otter_ / "tests"
        tests.mkdir(parents=True)
        for exercise in BENCH_EXERCISES:
            name, wants = exercise.id.replace(".", "_"), ", ".join(exercise.symbols)
            body = textwrap.indent(PLAIN[exercise.id].strip(), "    ")
            text = OTTER_TEST.format(name=name, points=exercise.points, wants=wants, body=body)
            (tests / f"{name}.py").write_text(text)
        bare = "--no-requirements", "--no-environment"  # what the tests need is here
        self._otter(self.otter_, "generate", "-t", "tests", "-o", "autograder.zip", *bare)

    def _otter(self, folder: Path, *call: str) -> None:
        call = (sys.executable, "-m", "otter", *call)
        done = subprocess.run(call, cwd=folder, env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(call[2:])} failed: {done.stderr[-2000:]}")

    def grade(self, workers: int) -> BenchTiming:
        """`autograder grade`, from a fresh start."""
        for leftover in ("records.db", "records.lock"):
            (self.course / leftover).unlink(missing_ok=True)
        shutil.rmtree(self.course / "autograded", ignore_errors=True)
        call = [sys.executable, "-m", "autograder", "grade", str(self.course), UNIT, "--workers", str(workers)]
        started, memory = time.monotonic(), []
        process = subprocess.Popen(call, env=self.env, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if line[:1] in "✓✗?":
                memory.append(psutil.Process(process.pid).memory_info().rss / 2**20)
        if process.wait():
            raise RuntimeError(f"{' '.join(call)} ended with {process.returncode}")
        seconds = time.monotonic() - started
        name, compared = grade_row_name(workers), self._compared()
        return self._print_timing(BenchTiming(name, self.number, seconds, memory=tuple(memory), compared=compared))

    def _print_timing(self, timing: BenchTiming) -> BenchTiming:
        size = f"{timing.submissions} in {timing.seconds:.1f} s"
        same = f"; {truth.summary(timing.compared)}" if timing.compared else ""
        self.console.print(f"{timing.name}: {timing.rate:.1f} a minute ({size}){same}")
        return timing

    # -- where the time goes -------------------------------------------------------------------------------------------
    def split(self, number: int = 8) -> dict[str, Stage]:
        """A submission's seconds by what they went into, in one process that is warm."""
        import torch

        from autograder.cluster.course import Course
        from autograder.cluster.gradebook import GradebookWriter
        from autograder.cluster.job import GradingRecord, grade

        torch.set_num_threads(1)  # as the workers, which have OMP_NUM_THREADS=1
        course = Course(self.course, UNIT)
        submissions = course.submissions()[: number + 1]
        with GradebookWriter(course) as writer, stopwatches() as spent:
            for index, submission in enumerate(submissions):
                if index == 1:  # the first one warms the box's parent, the reference and the database
                    spent.clear()
                with spent.of(REST):
                    record = GradingRecord.from_bytes(grade(course.bundle(submission)))
                with spent.of("gradebook and files"):
                    writer.write(record, submission.folder)
        each = len(submissions) - 1
        return {name: Stage(stage.wall / each, stage.cpu / each) for name, stage in spent.items()}


def grade_row_name(workers: int) -> str:
    """The name of the row of `autograder grade`."""
    return f"`autograder grade --workers {workers}`"


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _plain(nb: NotebookNode) -> NotebookNode:
    for exercise in BENCH_EXERCISES:
        check_cell(nb, exercise).source = PLAIN[exercise.id].strip()
    return nb


@dataclass
class Stage:
    """Wall-clock seconds and processor seconds."""

    wall: float = 0.0
    cpu: float = 0.0


class GradingCost(defaultdict[str, Stage]):
    """Seconds by stage; time in a nested block counts only for the inner one."""

    def __init__(self) -> None:
        super().__init__(Stage)
        self._inside: list[Stage] = []

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count the time of this block for the stage `name`."""
        wall, cpu = time.perf_counter(), time.process_time()
        self._inside.append(Stage())
        try:
            yield
        finally:
            inside = self._inside.pop()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            self[name].wall += wall - inside.wall
            self[name].cpu += cpu - inside.cpu
            if self._inside:
                self._inside[-1].wall += wall
                self._inside[-1].cpu += cpu

    def time_calls(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its calls timed."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            with self.of(name):
                found = function(*args, **kwargs)
                return list(found) if isinstance(found, Iterator) else found

        return counted


BOXES, REST = "inside the boxes", "the rest: notebook, verdict"
OPERATIONS = {"cell": "the student's cells", "inject": "modules of earlier units"}
STAGES = {
    "questions": "drawing, and the reference's answers",
    "collect_answers": "comparison",
    "diagnose": "naming the mistake",
    "shrink_counterexample": "smallest examples",
    "localize_fault": "the line where it departs",
}


@contextmanager
def stopwatches() -> Iterator[GradingCost]:
    """Times the stages of grading within a context; afterwards the functions are restored."""
    from autograder.grade import run, verdict
    from autograder.sandbox.client import SandboxClient

    spent, before = GradingCost(), (SandboxClient.__enter__, SandboxClient.__exit__, SandboxClient._ask)
    modules = {name: verdict if name == "diagnose" else run for name in STAGES}
    functions = {name: getattr(modules[name], name) for name in STAGES}

    def leave(self: Any, *what: object) -> None:
        spent[BOXES].cpu += self.usage().cpu_s
        with spent.of("ending boxes"):
            before[1](self, *what)

    def ask(self: Any, op: str, *more: Any, **how: Any) -> Any:
        with spent.of(OPERATIONS.get(op, "answers of the box")):
            return before[2](self, op, *more, **how)

    SandboxClient.__enter__ = spent.time_calls("starting boxes", before[0])  # type: ignore[method-assign]
    SandboxClient.__exit__, SandboxClient._ask = leave, ask  # type: ignore[method-assign]
    for name, function in functions.items():
        setattr(modules[name], name, spent.time_calls(STAGES[name], function))
    try:
        yield spent
    finally:
        SandboxClient.__enter__, SandboxClient.__exit__, SandboxClient._ask = before  # type: ignore[method-assign]
        for name, function in functions.items():
            setattr(modules[name], name, function)


def floor(number: int = 10) -> float:
    """Seconds for a box that starts, reports ready and ends: a lower bound for grading in a box."""
    from autograder.sandbox import choose
    from autograder.sandbox.client import SandboxClient

    backend = choose()
    with SandboxClient(backend) as student:
        student.ping()
    started = time.perf_counter()
    for _ in range(number):
        with SandboxClient(backend) as student:
            student.ping()
    return (time.perf_counter() - started) / number


TURNS = """import sys, time
import torch
torch.set_num_threads(1)
x, turns = torch.randn(8, 16), 0
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for _ in range(100):
        torch.softmax(x @ x.T, -1)
    turns += 1
print(turns)
"""


def ceiling(seconds: float = 5.0) -> float:
    """The throughput of two independent processes relative to twice that of one: 1 on two full cores, 0.5 on one.

    The two "cores" of a rented machine are often two threads of one core; no program scales better than this.
    """
    alone = _turns(1, seconds)
    return _turns(2, seconds) / (2 * alone)


def _turns(processes: int, seconds: float) -> int:
    call = [sys.executable, "-c", TURNS, str(seconds)]
    running = [
        subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()  # all of them begin together
    return sum(int(process.communicate("go\n")[0]) for process in running)


def figures(name: str, run: Callable[[str], BenchTiming]) -> dict[str, Any]:
    """What is stored of a row."""
    return asdict(run(name))


def measure_rows(bench: Bench, share: int, kept: KeptRows) -> list[BenchTiming]:
    """Every row; those of an interrupted run are not measured again."""
    contestants: dict[str, Callable[[str], BenchTiming]] = {
        "stock `nbgrader autograde`": lambda name: bench.nbgrader(name, bench.stock, share),
        "`otter run`": lambda name: bench.otter(name, share),
        "`nbgrader autograde`, our configuration": lambda name: bench.nbgrader(name, bench.course, share),
        grade_row_name(1): lambda name: bench.grade(1),
        grade_row_name(2): lambda name: bench.grade(2),
    }
    rows = [kept.row(name, partial(figures, name, run)) for name, run in contestants.items()]
    return [BenchTiming(**row["found"] | {"memory": tuple(row["found"]["memory"])}) for row in rows]


# -- the page ----------------------------------------------------------------------------------------------------------


def page(timings: list[BenchTiming], parts: dict[str, Stage], least: float, most: float) -> str:
    """The table and its explanation, in Markdown."""
    by_name = {timing.name: timing for timing in timings}
    stock, one, two = timings[0], *(by_name[grade_row_name(n)] for n in (1, 2))
    memory = two.memory
    rows = "\n".join(
        f"| {timing.name} | {timing.submissions} | {timing.rate:.1f} | {timing.rate / stock.rate:.1f} |"
        for timing in timings
    )
    whole, cpu = sum(stage.wall for stage in parts.values()), sum(stage.cpu for stage in parts.values())
    split = "\n".join(
        f"| {name} | {1000 * stage.cpu:.0f} | {100 * stage.cpu / cpu:.0f} % | {1000 * stage.wall:.0f} |"
        for name, stage in sorted(parts.items(), key=lambda part: -part[1].cpu)
    )
    third = memory[len(memory) // 3]
    return TEMPLATE.format(
        date=date.today().isoformat(), machine=platform.machine(), cores=psutil.cpu_count(), unit=UNIT, rows=rows,
        scaling=two.rate / (2 * one.rate), most=most, share=two.rate / (2 * one.rate) / most,
        truth=truth.summary(sum(timing.compared for timing in timings)),
        third=third, last=memory[-1], a=len(memory) // 3, b=len(memory),
        split=split, whole=1000 * whole, cpu_ms=1000 * cpu, floor=1000 * least,
        stock_cpu=stock.cpu_s / stock.submissions, cpu=cpu,
        less=stock.cpu_s / stock.submissions / cpu, load=os.getloadavg()[2],
    )  # fmt: skip


TEMPLATE = """# How fast a class is graded

Written by `make bench` on {date}; {machine}, {cores} cores, one thread for each process. Unit {unit}; the class is the
mock class, whose right and wrong answers are repeated. All rows of one run, one after the other, the start-up of every
command included.

| | submissions | a minute | × stock |
|---|---|---|---|
{rows}

**What is compared.** Stock nbgrader runs every cell of the notebook in a kernel, demonstrations and experiments too,
and then two plain asserts for each exercise, in the student's own process; Otter does the same, outside the container
that it has for safety. The others run the student's answers in the
sandbox, ask them for every property of the exercise (values, shapes, gradients, information flow, purity), and name
the misconception of a wrong one.

**Right grades.** What students of the mock class must get is known: {truth}. A wrong grade ends the benchmark.

**CPU time**, which other work on the machine changes least: stock nbgrader takes {stock_cpu:.1f} s for a submission,
a warm worker with its boxes and the writer {cpu:.1f} s: {less:.1f} times less. The machine's load was {load:.0f} when
this run ended; on an idle one it is the number of workers, and the rates above are higher.

**Scaling.** The rate with two workers is {scaling:.2f} of twice the rate with one; both pay the start-up. Two processes
that share nothing reach {most:.2f} on this machine (1 on two whole cores, 0.5 on one): grading reaches {share:.2f}
of that.

**Memory of the grader** (the process that holds the class; workers apart): {third:.0f} MiB after {a} submissions,
{last:.0f} MiB after {b}.

## Where the time of one submission goes
One process, warm. Time of the processor, and on the clock, which other work on the machine slows; while a box works
the grader waits for it ("answers of the box").

| | CPU ms | | ms on the clock |
|---|---|---|---|
{split}
| sum | {cpu_ms:.0f} | | {whole:.0f} |

**The floor** is a box that starts, answers once and ends: {floor:.0f} ms for each exercise.
"""


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = make_parser(
        "bench.grading",
        """
        Measure how fast a class is graded: stock nbgrader, our engine behind `nbgrader autograde`, and `autograder
        grade` with several numbers of workers, on the same submissions. Prints the page docs/benchmarks-grading.md.
        """,
        exits={0: "done", 1: "a grade is not what it must be; standard error says which"},
        examples=("python -m bench.grading --write docs/benchmarks-grading.md",),
    )
    parser.add_argument(
        "--submissions", type=int, default=60, metavar="N", help="size of the class (default: %(default)s)"
    )
    parser.add_argument("--share", type=int, default=6, metavar="N",
                        help="grade only every N-th submission with stock nbgrader (default: %(default)s)")  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page to this file")
    add_options(parser)
    options = parser.parse_args(arguments)
    here = environment(GRADING, submissions=options.submissions, share=options.share)
    kept = KeptRows(kept_file("grading", options), here, options.resume)
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        bench = Bench(Path(folder), options.submissions, Console(highlight=False))
        bench.prepare()
        try:
            timings = measure_rows(bench, options.share, kept)
        except WrongGrade as error:
            parser.exit(1, f"bench.grading: {error}\n")
        text = page(timings, bench.split(), floor(), ceiling())
    bench.console.print(text, markup=False)
    if options.write:
        write(options.write, text)


def write(file: Path, text: str) -> None:
    """Write the page, with the section that another benchmark has put on it."""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    others = [part for part in re.split(r"^(?=## )", before, flags=re.MULTILINE) if part.startswith(ATTACKERS)]
    file.write_text("\n".join([text, *others]), encoding="utf-8")


if __name__ == "__main__":
    main()
