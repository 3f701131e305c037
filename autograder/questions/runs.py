"""Runs a student's code and variants of it in boxes. Nothing of it ever runs outside."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from autograder.api import Exercise, Limits
from autograder.checks.compare import RaisedError
from autograder.checks.probe import Case, Probe, observe
from autograder.exercises import injected_modules, registry
from autograder.exercises.parse import defined_names, without_magics
from autograder.feedback.translate import say
from autograder.grade.run import sources_of
from autograder.localize.instrument import InstrumentedCode, instrument
from autograder.localize.trace import BadTrace, Trace, trace_answer
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Cell, SandboxClient, StudentError

LIMITS = Limits(call_s=5.0)
CALLS, ENDED = 2000, 3  # requests to boxes for the questions about one answer, and boxes that its code may end
GUARD_S = 240.0  # wall time for them, many times what any machine takes: then nothing is asked at all
HELPERS = ("_q_define", "_q_note", "_q_begin", "_q_end", "_q_watch", "_q_count_products", "_q_dispatch_products",
           "_q_products")  # fmt: skip
NO_CODE = "there is no code that answers {exercise}"
ANSWER = "answer"  # the id of the cell that is asked about


class OutOfBudget(Exception):
    """The code was run often enough or ended too many boxes: no more is asked of it, on any machine."""


class OutOfTime(Exception):
    """No wall time is left, which says more of the machine than of the code: no questions can be made here."""


@dataclass
class CallBudget:
    """What is left for the questions about one answer, or about all that one student handed in.

    What is counted decides which questions are made, so that the same code gives the same ones on every machine.
    """

    end: float = field(default_factory=lambda: time.monotonic() + GUARD_S)
    ended: int = 0  # boxes that ended by themselves
    calls: int = CALLS  # requests that may still be sent to a box

    def part(self) -> CallBudget:
        """What one answer may take of this budget: no more time than any answer has, and counts of its own."""
        return CallBudget(min(self.end, time.monotonic() + GUARD_S))

    def left(self) -> float:
        """Seconds. Raises OutOfTime if there are none."""
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise OutOfTime
        return seconds

    def count_call(self) -> None:
        """Take one request. Raises OutOfBudget if there is none left, or too many boxes ended."""
        if self.calls <= 0 or self.ended >= ENDED:
            raise OutOfBudget
        self.calls -= 1


class NoCode(Exception):
    """There is no code to ask about; the message says why, for the student."""


@dataclass(frozen=True)
class StudentCode:
    """The code that answers an exercise, and what has to run before it."""

    exercise: Exercise
    text: str
    before: tuple[Cell, ...] = ()


def code_of(exercise: Exercise, content: str | Mapping[str, Any]) -> StudentCode:
    """The code in a source or a notebook's object. Raises NoCode."""
    if isinstance(content, str):
        return StudentCode(exercise, _trimmed(content))
    sources = sources_of(content)
    texts = [(n, without_magics(one.text)) for n, one in enumerate(sources) if not is_adapter(one.text, exercise)]
    defining = [n for n, text in texts if defined_names(text) & set(exercise.symbols)]
    marked = [n for n in defining if sources[n].exercise == exercise.id]
    defining = marked or [n for n in defining if sources[n].exercise is None]
    if not defining:
        raise NoCode(say(NO_CODE, exercise=exercise.id))
    last = defining[-1]
    before = tuple(Cell(one.id, one.text) for one in sources[:last])
    return StudentCode(exercise, _trimmed(without_magics(sources[last].text)), before)


def is_adapter(text: str, exercise: Exercise) -> bool:
    """Whether a cell is one by which the exercise's notebook turns answers into the course's form."""
    return text.replace("\r\n", "\n").strip() in registry.adapters(exercise.unit)


def _trimmed(text: str) -> str:
    """The code without empty lines around it: a kernel's history has none, and must give the same questions."""
    lines = text.replace("\r\n", "\n").rstrip().split("\n")
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    return "\n".join(lines[first:]) + "\n"


@cache
def _inside_source() -> str:
    return (Path(__file__).parent / "inside.py").read_text(encoding="utf-8")


class CodeRunner:
    """A box with a student's code. It starts again after code that ended it. Use it in a `with` statement."""

    def __init__(self, code: StudentCode, backend: Backend, budget: CallBudget | None = None) -> None:
        self.code, self.backend, self.budget = code, backend, budget or CallBudget()
        self._client: SandboxClient | None = None

    def __enter__(self) -> CodeRunner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.__exit__()
            self._client = None

    @property
    def client(self) -> SandboxClient:
        """The box for one request, in which everything before the answer has run. Raises OutOfBudget or OutOfTime."""
        left = self.budget.left()
        if self._client is not None and (not self._client.alive or self._client.out_of_time):
            self.budget.ended += 1
            self.__exit__()
        self.budget.count_call()
        if self._client is None:
            self._client = SandboxClient(self.backend, replace(LIMITS, wall_s=left)).__enter__()
            self._client.inject(injected_modules.modules(registry.injected_references(self.code.exercise)))
            self._client.run_cells(self.code.before)
            self._client.bind(_inside_source(), HELPERS)
        return self._client

    def define(self, text: str) -> bool:
        """Let the answer be this text; False if it does not run."""
        (outcome,) = self.client.run_cells([Cell(ANSWER, f"_q_define({text!r}, globals())")])
        return outcome.error is None

    def ask(self, case: Case) -> Any:
        """What the answer gives for a case; what stops it as RaisedError."""
        return observe(self.client, Probe(case.value, case))

    def result(self, text: str, case: Case) -> Any:
        """What this text gives for a case."""
        return self.ask(case) if self.define(text) else RaisedError("exception", "it does not run")

    def notes(self, text: str, case: Case, begin: str = "_q_begin") -> tuple[list[Any], dict[int, int]] | None:
        """What the code notes of its values, and how often lines began; None if it does not run to its end."""
        if not self.define(text):
            return None
        try:
            self.client.call(begin)
            answer = self.ask(case)
            notes, lines = self.client.call("_q_end")
            return None if isinstance(answer, RaisedError) else (list(notes), _counts(lines))
        except (StudentError, TypeError, ValueError):  # the box's output is not trusted
            return None

    def products(self, text: str, case: Case, begin: str = "_q_count_products") -> int | None:
        """The multiplications of two numbers in matrix products, as torch counts them or as its calls tell."""
        if not self.define(text):
            return None
        try:
            self.client.call(begin)
            answer = self.ask(case)
            count = self.client.call("_q_products")
            return count if type(count) is int and not isinstance(answer, RaisedError) else None
        except StudentError:
            return None

    def trace(self, text: str, case: Case) -> tuple[Trace, Any] | None:
        """Every value on the way to the answer, as fault localization records it; None if it cannot be had."""
        table = instrument_text(text)
        if table is None or not self.define(text):
            return None
        try:
            return trace_answer(self.client, table, Probe(case.value, case))
        except (BadTrace, StudentError):
            return None
        finally:
            self.__exit__()  # the recorder's definitions are in that box


def _counts(lines: Any) -> dict[int, int]:
    """How often each line began. Raises TypeError or ValueError for anything else, which a box may send."""
    counts = {line: count for line, count in lines}
    if not all(type(number) is int for pair in counts.items() for number in pair):
        raise ValueError("no numbers of lines")
    return counts


def instrument_text(text: str) -> InstrumentedCode | None:
    """The text with every value recorded; None if it cannot be rewritten."""
    try:
        return instrument([(ANSWER, text)])
    except (SyntaxError, ValueError, RecursionError):
        return None
