"""An instructor's own test cells (`assert torch.allclose(attention(q, k, v), …)`), run unchanged outside the box.

The cells of a notebook run in order: the student's in the box, the tests in a child process of the grader, where the
student's names are proxies. The child exists so that a test that never ends can be stopped. It sends one line of JSON
per cell, from which the verdict is formed here.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import os
import resource
import select
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from nbformat import NotebookNode

from autograder.api import CheckResult, Limits, Verdict
from autograder.exercises.parse import defined_names, parse_source, without_magics
from autograder.grade.run import RESTARTS, sources_of
from autograder.own_tests.mutants import StoredMutant, matching_mutant
from autograder.own_tests.proxies import USUAL_IMPORTS, Names, imports_of, stored_names
from autograder.sandbox.client import Cell, SandboxClient, StudentError
from autograder.sandbox.inside.wire import WireError

# Libraries' names that are never the student's; the others in USUAL_IMPORTS are those of common functions too.
LIBRARIES = ("torch", "numpy", "np", "nn", "F", "math")
NO_MEMORY = ("can't allocate memory", "not enough memory", "std::bad_alloc")  # in torch's RuntimeError
ENDED = "{count} cells ended their process or did not finish in time, so this one was not run"


@dataclass(frozen=True)
class TestStep:
    """A cell of the notebook. `points` is None if the cell is not a test."""

    id: str
    source: str
    points: float | None = None
    locked: bool = False
    released: str = ""  # for an answer: the text that was released
    name: str = ""  # for a test: its grade id


def steps_of(nb: NotebookNode, tests: dict[str, float]) -> list[TestStep]:
    """The cells that run, in order; `tests` are the ids of the test cells with their points."""
    boxed = {source.id: source.text for source in sources_of(nb)}
    steps = []
    for cell in nb.cells:
        if cell.id in tests:
            steps.append(TestStep(cell.id, cell.source, tests[cell.id], True))
        elif cell.id in boxed:
            marks = cell.metadata.get("nbgrader") or {}
            tfkit = cell.metadata.get("tfkit") or {}
            steps.append(
                TestStep(cell.id, boxed[cell.id], None, bool(marks.get("locked")), str(tfkit.get("released", "")))
            )
    return steps


def grade(nb: NotebookNode, tests: dict[str, float], names: dict[str, str], backend: Any,
          limits: Limits, mutants: Sequence[StoredMutant] = ()) -> dict[str, Verdict]:  # fmt: skip
    """Cell id → verdict for every test in `tests` (id → points); `names` are their grade ids, `mutants` the corpus."""
    steps = [replace(step, name=names.get(step.id, "")) for step in steps_of(nb, tests)]
    verdicts: dict[str, Verdict] = {}
    killer_steps: dict[str, bool] = {}  # steps that ended a box, left out from then on; is it a fault of the answer?
    while any(id not in verdicts for id in tests):
        if len(killer_steps) > RESTARTS:
            ended = {id: _ended(names[id], points, backend.name, killer_steps) for id, points in tests.items()}
            return ended | verdicts
        left = [step for step in steps if step.id not in killer_steps]
        with SandboxClient(backend, limits) as student:
            results = list(_in_child(student, left, limits, mutants))
        if len(results) < len(left) and not (results and results[-1]["over"]):  # the child hung, or died
            results.append({"id": left[len(results)].id, "over": True, "score": None})
        killer_steps |= {r["id"]: r["id"] not in tests or r["score"] is not None for r in results if r["over"]}
        for one in results:
            if one["id"] in tests:
                verdict = _verdict(names[one["id"]], tests[one["id"]], one, backend.name, limits)
                verdicts.setdefault(one["id"], verdict)
    return verdicts


def _ended(name: str, points: float, sandbox: str, killer_steps: dict[str, bool]) -> Verdict:
    """The verdict on a test that was not run. A person decides where tests alone did not end."""
    message = ENDED.format(count=len(killer_steps))
    if not any(killer_steps.values()):
        return Verdict(exercise=name, status="not_graded", score=0.0, max_score=points, sandbox=sandbox, reason=message)
    check = CheckResult(name="test", status="failed", message=message)
    return Verdict(exercise=name, status="failed", score=0.0, max_score=points, checks=(check,), sandbox=sandbox)


def _verdict(name: str, points: float, found: dict[str, Any], sandbox: str, limits: Limits) -> Verdict:
    if found["score"] is None:
        late = f"the test did not end within {limits.wall_s:g} s, or ended its process; grade it by hand"
        reason = found.get("unsent") or late
        return Verdict(exercise=name, status="not_graded", score=0.0, max_score=points, sandbox=sandbox, reason=reason)
    score = min(max(float(found["score"]), 0.0), points)
    check = CheckResult(name="test", status="passed" if score == points else "failed", message=found["message"])
    return Verdict(exercise=name, status=check.status, score=score, max_score=points, checks=(check,), sandbox=sandbox,
                   hint=found.get("hint") or None)  # fmt: skip


def _in_child(student: SandboxClient, steps: Sequence[TestStep], limits: Limits,
              mutants: Sequence[StoredMutant]) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yields the child's result for each test as it arrives; ends when the child sends nothing in time."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            _limit_memory(limits.memory_mb << 20)
            _child(student, steps, writing, mutants)
        finally:
            os._exit(0)
    os.close(writing)
    try:
        with open(reading, "rb", buffering=0) as pipe:
            yield from _lines(pipe, limits.wall_s)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _limit_memory(most: int) -> None:
    """Let this process allocate as much as a box may, besides what it shares with the grader: a test can make what the
    student's answer says, such as `torch.ones(out.shape)`."""
    with open("/proc/self/status", encoding="ascii") as file:
        used = next((int(line.split()[1]) << 10 for line in file if line.startswith("VmData:")), 0)
    resource.setrlimit(resource.RLIMIT_DATA, (used + most, used + most))


def _lines(pipe: io.RawIOBase, seconds: float) -> Iterator[dict[str, Any]]:
    """JSON objects, one per line; every line, of a test or not, restarts the clock."""
    rest, end = b"", time.monotonic() + seconds
    while select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
        piece = pipe.read(1 << 16)
        if not piece:
            return
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            end = time.monotonic() + seconds
            yield json.loads(line)


def _child(student: SandboxClient, steps: Sequence[TestStep], pipe: int, mutants: Sequence[StoredMutant]) -> None:
    torch.set_num_threads(1)  # a parallel region after a fork hangs
    names = names_of(student, steps)
    for step in steps:
        lived = student.alive
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = _one(student, names, step, mutants)
        if (
            student.out_of_time
        ):  # a failure for lack of time is not a wrong answer, whether the test or the answer used it up
            result["score"] = None
        over = student.out_of_time or (lived and not student.alive)
        os.write(pipe, json.dumps({"id": step.id, **result, "over": over}).encode() + b"\n")
        if over:
            return


def names_of(student: SandboxClient, steps: Sequence[TestStep]) -> Names:
    """The globals of the tests in these steps, before any of them has run."""
    free = [step for step in steps if step.points is None and not step.locked]
    classes = set().union(*(defined_names(step.released, classes_only=True) for step in free))
    names = Names(student, _imports(steps), classes)
    given = set().union(*(defined_names(step.released) for step in free))
    for name in given & names.imports.keys():
        del names.imports[name]
    own = set().union(*(defined_names(step.source) for step in free)) - given - set(LIBRARIES)
    doubtful = own & names.imports.keys() - _trusted_imports(steps).keys()
    for name in doubtful:  # a function to be written, or a library's name that the student took
        del names.imports[name]
    why = "is the name of a library and of something in the answer: import it in a locked cell, or release its `def`"
    names.reserve(doubtful, why, fault=False)
    return names


def _imports(steps: Sequence[TestStep]) -> dict[str, str]:
    """Name → import statement. A usual name is its library's whether or not the student's cells import it."""
    return USUAL_IMPORTS | _trusted_imports(steps)


def _trusted_imports(steps: Sequence[TestStep]) -> dict[str, str]:
    """Name → import statement, from locked cells and from answers as released."""
    return imports_of(step.source if step.locked else step.released for step in steps if step.points is None)


def _one(student: SandboxClient, names: Names, step: TestStep, mutants: Sequence[StoredMutant]) -> dict[str, Any]:
    if step.points is not None:
        return _tested(step, names, mutants)
    student.run_cells([Cell(step.id, step.source)])
    if not step.locked:
        for name in defined_names(step.released):  # the release gives it to this answer, whatever an earlier cell did
            names.reserved.pop(name, None)
        return {}
    try:  # an instructor's helpers run here, and are never taken from the box
        _run(step.source, names)
    except Exception as error:
        cell = step.name or step.id
        why = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"
        _reserve(names, step, f"has no value, since the locked cell {cell} stopped with {why}", fault=False)
    return {}


def _reserve(names: Names, step: TestStep, why: str, fault: bool) -> None:
    """Names that a cell of the instructor's should have defined do not come from the student instead."""
    try:
        names.reserve(stored_names(without_magics(step.source)), why, fault)
    except SyntaxError:  # nothing of it ran in the box either
        return


def _run(source: str, names: dict[str, Any]) -> Any:
    """Execute a cell; returns the value of its last line where that is an expression."""
    tree = parse_source(without_magics(source))
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<test>", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "<test>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<test>", "eval"), names)


def _tested(step: TestStep, names: Names, mutants: Sequence[StoredMutant]) -> dict[str, Any]:
    """The score as nbgrader gives it: full marks if nothing is raised; a number as the last value is the score."""
    assert step.points is not None
    names.test.begin(step.source)
    result = _scored(step, names, mutants)
    if result["score"] != step.points or result["message"]:
        why = f"has no value, since the test {step.name or step.id} stopped before"
        _reserve(names, step, why, fault=True)
    if use := next(iter(names.test.refused), None):  # the test may have caught it
        return {"score": 0.0, "message": str(use)} if use.fault else {"score": None, "unsent": str(use)}
    return result


def _scored(step: TestStep, names: Names, mutants: Sequence[StoredMutant]) -> dict[str, Any]:
    try:
        value = _run(step.source, names)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        score = float(value if number else step.points or 0.0)
        if not math.isfinite(score):
            return {"score": 0.0, "message": "the test's score is not a finite number"}
        return {"score": score, "message": ""}
    except AssertionError as error:
        hint = matching_mutant(mutants, step.name, names.test.calls)
        return {"score": 0.0, "message": _shown(error, step.source), "hint": hint}
    except StudentError as error:
        return {"score": 0.0, "message": f"your code stopped: {error}"[:1000]}
    except WireError as error:  # not the student's mistake, since no student code ran
        return {"score": None, "message": "",
                "unsent": f"the test passes a value that cannot be sent into the sandbox: {error}"}  # fmt: skip
    except Exception as error:  # raised by the test, usually because the answer has the wrong type
        if isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY):
            return {"score": 0.0, "message": "the test needs more memory for your answer than it may have"}
        return {"score": 0.0, "message": f"the test stopped with {type(error).__name__}"}


def _shown(error: AssertionError, source: str) -> str:
    """The part of a failure that students may read: the instructor's message, but not a comparison's output, which
    contains the expected values."""
    message = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    if isinstance(error, StudentError):
        return f"your code stopped: {error}"[:1000]
    return message if message and (repr(message)[1:-1] in source or message in source) else "the test failed"
