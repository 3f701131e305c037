"""Judges a student's test: what does it say of right code, of this fault, and of the exercise's other known mistakes?

Test and code run together in a box, a new one for each code, so that a test can keep nothing from one to the next. What
the test says of right code and of other mistakes is never shown: it could tell what the code there looks like.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.api import Exercise, Limits
from autograder.checks.probe import FATAL
from autograder.exercises import injected_modules, registry
from autograder.exercises.answers import answers
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.hunts.make import Hunt
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Handle, SandboxClient, StudentError

MODULE = "code_under_test"
PRELUDE = "import math, torch; from torch import nn, Tensor; from {module} import {names}\n"
RUN_TEST = "exec(compile({source!r}, '<test>', 'exec'), globals())\n"  # so it may begin with an import from __future__
ANSWER = "answer"  # the parameter that gets the exercise's function or class, whatever its name
LIMITS = Limits(call_s=5.0)
LONGEST = 20_000  # characters of a test
MAX_OTHERS = 12  # mistakes that a test is tried on, besides the hunt's own
TOO_LONG = "The test has {count} characters: at most {most} are read."
NO_PYTHON = "The test has a syntax error in line {line} ({message})."
NO_FUNCTION = "There is no function whose name begins with test: write `def test_it(answer):`."
RAISED_AT = "{message} (line {line})"
OTHER_PARAMETER = "`{function}` has a parameter `{name}`: it may have {known}."
OWN_FRAME = re.compile(r'File "<test>", line (\d+), in test')


class BadTest(Exception):
    """The text is no test; the message says why, for the student."""


@dataclass(frozen=True)
class StudentTest:
    """A test's source, and its functions with the parameters that each takes."""

    source: str
    functions: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class TestReport:
    """What the test said. `message`: how it failed on this hunt's code, "" if it passed."""

    right: int
    accepted: int  # of the right answers: the test passes
    catches: bool
    message: str
    others: int  # none are tried after a false alarm
    killed: int
    missed: tuple[str, ...]  # the names of the other mistakes on which the test passes


def read_test(exercise: Exercise, source: str) -> StudentTest:
    """The test in this source. Raises BadTest."""
    if len(source) > LONGEST:
        raise BadTest(say(TOO_LONG, count=len(source), most=LONGEST))
    try:
        tree = parse_source(source)
    except SyntaxError as error:
        raise BadTest(say(NO_PYTHON, line=error.lineno, message=error.msg)) from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    if not found:
        raise BadTest(say(NO_FUNCTION))
    return StudentTest(source, tuple((node.name, _parameters(exercise, node)) for node in found))


def _parameters(exercise: Exercise, function: ast.FunctionDef) -> tuple[str, ...]:
    """The symbol that each parameter stands for."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    alone = len(exercise.symbols) == 1
    for name in names:
        if name not in exercise.symbols and not (name == ANSWER and alone):
            known = f" {say('or')} ".join([f"`{ANSWER}`"] * alone + [f"`{one}`" for one in exercise.symbols])
            raise BadTest(say(OTHER_PARAMETER, function=function.name, name=name, known=known))
    return tuple(exercise.symbols[0] if name == ANSWER and alone else name for name in names)


def judge_test(hunt: Hunt, test: StudentTest, backend: Backend, seed: int = 0) -> TestReport:
    """Run the test on right answers in all styles, on the hunt's code, and on other known mistakes.

    seed: which of the other mistakes, where there are many.
    """
    exercise = hunt.exercise
    right = [one.read_text(encoding="utf-8") for one in answers(exercise, "right")]
    accepted = _accepted(exercise, right, test, backend)
    own = run_test(exercise, hunt.code, test, backend)
    others = list(_others(hunt, seed)) if accepted == len(right) else []  # a false alarm says nothing of a mistake
    missed = tuple(name for name, code in others if run_test(exercise, code, test, backend) is None)
    message = "" if own is None else error_text(own)
    return TestReport(len(right), accepted, own is not None, message, len(others), len(others) - len(missed), missed)


def _accepted(exercise: Exercise, right: Sequence[str], test: StudentTest, backend: Backend) -> int:
    """The number of right answers on which the test passes; one that does not end is not run again and again."""
    accepted = 0
    for code in right:
        error = run_test(exercise, code, test, backend)
        if error is not None and error.kind in FATAL:
            return 0
        accepted += error is None
    return accepted


def _others(hunt: Hunt, seed: int) -> Iterator[tuple[str, str]]:
    """Other known mistakes of the exercise: their names, and the code."""
    among = [one for one in answers(hunt.exercise, "wrong") if one.stem not in hunt.names]
    chosen = random.Random(f"{seed}/{hunt.id}").sample(among, min(MAX_OTHERS, len(among)))
    for one in sorted(chosen, key=lambda one: one.stem):
        yield one.stem, one.read_text(encoding="utf-8")


def run_test(exercise: Exercise, code: str, test: StudentTest, backend: Backend) -> StudentError | None:
    """What stopped the test on this code, in a new box; None if it passed."""
    prelude = PRELUDE.format(module=MODULE, names=", ".join(exercise.symbols))
    with SandboxClient(backend, LIMITS) as box:
        try:
            box.inject(injected_modules.modules(registry.injected_references(exercise)) | {MODULE: code})
            box.bind(prelude, exercise.symbols)
            given = {symbol: Handle(box, box.value(symbol)) for symbol in exercise.symbols}
            box.bind(prelude + RUN_TEST.format(source=test.source), [name for name, _ in test.functions])
            for name, parameters in test.functions:
                box.call(name, *[given[symbol] for symbol in parameters])
        except StudentError as error:
            return error
    return None


def error_text(error: StudentError) -> str:
    """The test's own message, with the line of the test that raised it."""
    lines: Sequence[str] = OWN_FRAME.findall(error.traceback)
    message = error.message.strip().removesuffix(":").strip()
    return say(RAISED_AT, message=message, line=lines[-1]) if lines else message
