"""Judges a student's test: what does it say of right code, of this fault, and of the exercise's other known mistakes?

Test and code run together in a box, a new one for each code, so that a test can keep nothing from one to the next. What
the test says of right code and of other mistakes is never shown: it could tell what the code there looks like.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from autograder.api import Exercise, Limits
from autograder.checks.probe import FATAL
from autograder.exercises import injected_modules, registry
from autograder.exercises.answers import answers
from autograder.exercises.contracts import without_adapter
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.hunts.make import Hunt
from autograder.hunts.obfuscate import obfuscate
from autograder.hunts.pages import PageHunt
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Handle, SandboxClient, StudentError

MODULE = "code_under_test"
PRELUDE = "import math, torch; from torch import nn, Tensor; from {module} import {names}\n"
RUN_TEST = "exec(compile({source!r}, '<test>', 'exec'), globals())\n"  # so it may begin with an import from __future__
ANSWER = "answer"  # the parameter that gets the exercise's function or class, whatever its name
LIMITS = Limits(call_s=5.0)
LONGEST = 20_000  # characters of a test
MAX_OTHERS = 12  # mistakes that a test is tried on, besides the hunt's own; they are obfuscated, as the hunt's code is
MAX_OBFUSCATED = 2  # right answers that are also tried obfuscated
TOO_LONG = "The test has {count} characters: at most {most} are read."
NO_PYTHON = "The test has a syntax error in line {line} ({message})."
NO_PYTHON_ANYWHERE = "The test has a syntax error ({message})."
NO_FUNCTION = "There is no function whose name begins with test: write `def test_it(answer):`."
RAISED_AT = "{message} (line {line})"
OTHER_PARAMETER = "`{function}` has a parameter `{name}`: it may have {known}."
OWN_FRAME = re.compile(r'File "<test>", line (\d+), in test')


Run = Callable[[str], StudentError | None]  # what stops the test on this code
SHUFFLE = random.SystemRandom().shuffle


class Turn(NamedTuple):
    """One code that a test is run on, and what it is; `name`: of another mistake."""

    kind: Literal["right", "own", "obfuscated", "other"]
    code: str
    name: str = ""


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
    catches: bool  # it fails on the hunt's code, and on that code obfuscated
    message: str
    others: int  # none are tried after a false alarm
    killed: int
    missed: tuple[str, ...]  # the names of the other mistakes on which the test passes
    knows_code: bool = False  # it fails on the hunt's code, but passes on that code obfuscated


def read_test(exercise: Exercise, source: str) -> StudentTest:
    """The test in this source. Raises BadTest."""
    return StudentTest(source, tuple((node.name, _parameters(exercise, node)) for node in functions_of(source)))


def functions_of(source: str) -> list[ast.FunctionDef]:
    """The functions of this source whose names begin with test. Raises BadTest if there is none."""
    if len(source) > LONGEST:
        raise BadTest(say(TOO_LONG, count=len(source), most=LONGEST))
    try:
        tree = parse_source(source)
    except SyntaxError as error:
        words = NO_PYTHON if error.lineno else NO_PYTHON_ANYWHERE  # a null byte has no line
        raise BadTest(say(words, line=error.lineno, message=error.msg)) from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    if not found:
        raise BadTest(say(NO_FUNCTION))
    return found


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
    styles = [without_adapter(one.read_text(encoding="utf-8")) for one in answers(exercise, "right")]
    others = list(_others(hunt, seed))
    return report_on(hunt, styles, others, seed, lambda code: run_test(exercise, code, test, backend))


def report_on(
    hunt: Hunt | PageHunt, styles: Sequence[str], others: Sequence[tuple[str, str]], seed: int, run: Run
) -> TestReport:
    """The report on a test that is run on right code in these styles, on the hunt's code, and on others by name.

    What it is run on comes in an order that nobody knows: a box can tell how many there were before it, so that a test
    which counts them would otherwise know which code it has. After a false alarm only right code and the hunt's are
    left: it says nothing of a mistake. After one that does not end, no right code is run again and again.
    """
    right = with_obfuscated(styles, f"{seed}/{hunt.id}")
    turns = [Turn("right", code) for code in right]
    SHUFFLE(turns)
    first, *rest = turns  # so that a test with a false alarm, or without an end, is seldom run on anything else
    rest += [Turn("own", hunt.code), Turn("obfuscated", obfuscate(hunt.code, f"{seed}/{hunt.id}"))]
    rest += [Turn("other", obfuscate(code, f"{seed}/{name}"), name) for name, code in others]
    SHUFFLE(rest)
    own = of_obfuscated = None
    alarms, ended, missed = 0, False, list[str]()
    for turn in (first, *rest):
        if ended if turn.kind == "right" else alarms and turn.kind != "own":
            continue
        error = run(turn.code)
        if turn.kind == "right" and error is not None:
            alarms, ended = alarms + 1, error.kind in FATAL
        elif turn.kind == "own":
            own = error
        elif turn.kind == "obfuscated":
            of_obfuscated = error
        elif turn.kind == "other" and error is None:
            missed.append(turn.name)
    if alarms:
        return report_of(len(styles), len(right) if ended else alarms, own, own, 0, ())
    return report_of(len(styles), 0, own, own and of_obfuscated, len(others), tuple(sorted(missed)))


def with_obfuscated(right: Sequence[str], seed: str) -> list[str]:
    """Right answers, then some of them obfuscated: a test that only sees obfuscation has a false alarm."""
    return [*right, *(obfuscate(code, f"{seed}/{number}") for number, code in enumerate(right[:MAX_OBFUSCATED]))]


def report_of(
    styles: int, alarms: int, own: StudentError | None, of_obfuscated: StudentError | None, others: int,
    missed: tuple[str, ...],
) -> TestReport:  # fmt: skip
    """The report on a test that these errors stopped on the hunt's code and on the same code obfuscated.

    The code is shown with the hunt, so that a test can know its bytecode by heart and ask nothing of what it does. An
    alarm on an obfuscated right answer counts like one on a style more.
    """
    message, catches = "" if own is None else error_text(own), own is not None and of_obfuscated is not None
    knows_code = own is not None and of_obfuscated is None
    return TestReport(
        styles, max(0, styles - alarms), catches, message, others, others - len(missed), missed, knows_code
    )


def _others(hunt: Hunt, seed: int) -> Iterator[tuple[str, str]]:
    """Other known mistakes of the exercise: their names, and the code."""
    among = [one for one in answers(hunt.exercise, "wrong") if one.stem not in hunt.names]
    chosen = random.Random(f"{seed}/{hunt.id}").sample(among, min(MAX_OTHERS, len(among)))
    for one in sorted(chosen, key=lambda one: one.stem):
        yield one.stem, without_adapter(one.read_text(encoding="utf-8"))


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
