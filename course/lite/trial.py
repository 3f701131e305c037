"""Tests the collected answers with the browser's torch, on this machine: `python -m course.lite.trial [EXERCISE …]`.

A line per exercise, in JSON: whether its decisive checks can run, the right answers that fail, and the wrong ones that
pass; then, on stderr, the sentence that docs/lite.md quotes. `--write` stores in needs_lab.json which exercises need
the full lab: those whose checks cannot run, and those of which a right answer fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.exercises import registry
from autograder.exercises.answers import answers
from course.lite.wheels import BROWSER_TORCH
from tfkit_course.command_line import make_parser

NEEDS_LAB = Path(__file__).with_name("needs_lab.json")


def trials(exercises: Sequence[str] = (), every: int = 1) -> list[dict[str, Any]]:
    """The results of a process with the browser's torch, for these exercises or all, with every n-th wrong answer."""
    call = [sys.executable, "-m", "course.lite.trial", "--here", "--every", str(every), *exercises]
    with browser_torch() as folder:
        path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(call, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, check=False)
    if done.returncode:
        raise RuntimeError(f"the trial stopped: {done.stderr.strip().splitlines()[-1]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def browser_torch() -> Iterator[str]:
    """A folder in which the package `torch` is the browser's, for the module search path of a process in the block."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(BROWSER_TORCH, Path(folder) / "torch")
        yield folder


def full_lab_reason(trial: dict[str, Any]) -> str:
    """Why an exercise needs the full lab; "" if it does not."""
    if trial["lacks"]:
        return str(trial["lacks"])
    return f"a right answer does not pass there ({trial['refused'][0]})" if trial["refused"] else ""


def summary(found: Sequence[dict[str, Any]]) -> str:
    """How many exercises can be checked there, and which share of their wrong answers fails."""
    there = [one for one in found if not full_lab_reason(one)]
    number = sum(one["wrong"] for one in there)
    caught = number - sum(len(one["missed"]) for one in there)
    share = f"{100 * caught / number:.1f} % of {number:,} wrong ones fail" if number else "no wrong one was asked"
    return f"of {len(found)} exercises {len(there)} can be checked; all their right answers pass, and {share}"


def _here(exercises: Sequence[str], every: int) -> Iterator[dict[str, Any]]:
    # tokenizers has no build for Pyodide, so no check may need it
    sys.modules["tokenizers"] = None  # type: ignore[assignment]
    for exercise in registry.exercises():
        if not exercises or exercise.id in exercises:
            yield {"exercise": exercise.id, **_trial(exercise, every)}


def _trial(exercise: Any, every: int) -> dict[str, Any]:
    from autograder.checks.reference import reference_of
    from autograder.grade.practice import mark_unsupported

    found: dict[str, Any] = {"lacks": "", "left": [], "right": 0, "refused": [], "wrong": 0, "missed": []}
    before = set(sys.modules)
    try:
        question_sets = list(
            mark_unsupported(registry.check_function(exercise)(), reference_of(exercise), f"trial/{exercise.id}")
        )
    except ModuleNotFoundError as error:
        # modules that a failed import leaves behind would let a later exercise pass that fails in a fresh kernel
        for name in {name for name in sys.modules if name.startswith("tfkit.")} - before:
            del sys.modules[name]
        return found | {"lacks": f"its module needs the package {error.name}, of which there is no build for a tab"}
    found["left"] = [check.name for check, _ in question_sets if check.not_run]
    found["lacks"] = next((check.not_run for check, _ in question_sets if check.not_run and check.core), "")
    if found["lacks"]:
        return found
    for answer in answers(exercise, "right"):
        found["right"] += 1
        found["refused"] += [answer.stem] * _fails(answer, question_sets)
    for answer in answers(exercise, "wrong")[::every]:
        found["wrong"] += 1
        found["missed"] += [answer.stem] * (not _fails(answer, question_sets))
    return found


def _fails(answer: Any, question_sets: Sequence[Any]) -> bool:
    """Whether a graded check fails, as it would for a student."""
    from autograder.checks.compare import compare
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import observe

    names: dict[str, Any] = {"__name__": "answer"}
    try:
        exec(compile(answer.read_text(encoding="utf-8"), answer.name, "exec", dont_inherit=True), names)
    except Exception:  # a wrong answer may stop, too
        return True
    subject = LocalSubject(names)
    graded = [pairs for check, pairs in question_sets if check.graded]
    return any(
        compare(reply, observe(subject, one), one.tolerance) is not None for pairs in graded for one, reply in pairs
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 if needs_lab.json differs from the result."""
    parser = make_parser(
        "course.lite.trial",
        """
        Run the checks on the collected answers with the browser's substitute for torch, on this machine. Prints a line
        of JSON per exercise: whether its decisive checks can run, the right answers that fail, and the wrong ones that
        pass.
        """,
        exits={0: "needs_lab.json lists every exercise that needs the full lab", 1: "it lacks one"},
        examples=(
            "python -m course.lite.trial",
            "python -m course.lite.trial masks.causal --every 4",
        ),
    )
    parser.add_argument("exercises", nargs="*", metavar="ID", help="exercise ids; by default all")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        metavar="N",
        help="try only every N-th of the wrong answers (default: %(default)s)",
    )
    parser.add_argument(
        "--write", action="store_true", help="store in needs_lab.json which exercises need the full lab"
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # with its torch already
    options = parser.parse_args(arguments)
    if options.here:
        warnings.simplefilter("ignore")
        for one in _here(options.exercises, options.every):
            print(json.dumps(one), flush=True)
        return 0
    found = trials(options.exercises, options.every)
    for one in found:
        print(json.dumps(one))
    print(summary(found), file=sys.stderr)
    needed = {one["exercise"]: why for one in found if (why := full_lab_reason(one))}
    if options.write:
        kept = {} if not options.exercises else json.loads(NEEDS_LAB.read_text(encoding="utf-8"))
        kept = {name: why for name, why in kept.items() if name not in options.exercises} | needed
        NEEDS_LAB.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    known = json.loads(NEEDS_LAB.read_text(encoding="utf-8"))
    return int(bool(set(needed) - set(known)))


if __name__ == "__main__":
    raise SystemExit(main())
