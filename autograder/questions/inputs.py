"""The inputs of questions: small calls of an exercise's own checks, with whole numbers where the answer allows them.

Where the exercise is asked for under a contract, calls and results are in its form, as the student's code is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map

from autograder.api import Exercise
from autograder.checks.compare import RaisedError, compare
from autograder.checks.contract import SubjectInOwnForm, case_in_own_form
from autograder.checks.probe import Case, Draw, Probe, observe
from autograder.checks.reference import parameters_of, reference_of
from autograder.exercises import registry
from autograder.feedback.translate import say
from autograder.questions.question import ShownCall
from autograder.questions.runs import CodeRunner
from autograder.questions.turns import in_turn

SHOWN = 40  # numbers that a reader is shown in full
LARGEST = 3000  # numbers in the inputs of any question
DRAWS = 4  # from which the calls are chosen
DRAWING_S = 20.0  # processor time, after which none is drawn any more: so long that questions are the same everywhere
TRIED = 24  # calls whose right results are looked at
MOST = 2  # calls for each symbol
TENSOR, FUNCTION = "a tensor of shape {shape}", "a function"
RANGES = ((-2, 3), (0, 4), (1, 5))  # of whole numbers
TOO_LONG = 600  # characters of one input
INLINE = 30  # of one that is written into the call


def in_own_form(exercise: Exercise, subject: Any) -> Any:
    """A subject in the course's form, in the form of the exercise's contract if it has one."""
    return SubjectInOwnForm(subject, exercise) if exercise.contract else subject


def cases(exercise: Exercise, seed: str) -> list[Case]:
    """Calls with inputs of different sizes, none of them 1 where that can be had; the best for each symbol first."""
    found: dict[str, list[Case]] = {}
    end = time.thread_time() + DRAWING_S
    for draw in range(DRAWS):
        for case in _drawn(exercise, f"{seed}/{draw}"):
            if case.size() <= LARGEST:
                found.setdefault(f"{case.symbol}.{case.method}", []).append(case)
        if time.thread_time() > end:
            break
    best = [_best(exercise, sorted(some, key=_rank, reverse=True)) for some in found.values()]
    return in_turn(best)


def _best(exercise: Exercise, ranked: list[Case]) -> list[Case]:
    """The first ones; those whose result is everywhere the same come after the others."""
    first = ranked[:TRIED]
    return sorted(first, key=lambda case: not _is_telling(exercise, case))[:MOST]


def _is_telling(exercise: Exercise, case: Case) -> bool:
    """Whether the right result has different entries."""
    value = observe(in_own_form(exercise, reference_of(exercise)), Probe(case.value, case))
    tensors = [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, Tensor)]
    return not tensors or any(bool((leaf != leaf.flatten()[:1]).any()) for leaf in tensors if leaf.numel())


def _drawn(exercise: Exercise, seed: str) -> Iterator[Case]:
    reference = reference_of(exercise)
    for check in registry.check_function(exercise)():
        if check.property != "values" or check.not_run:
            continue
        for probe in check.probes(Draw(seed, check.name, reference=reference), reference):
            if (own := case_in_own_form(exercise, probe.case)) is not None:
                yield own


def _rank(case: Case) -> tuple[Any, ...]:
    """Larger for inputs that say more: sizes of at least two, unlike each other, few numbers, and no errors asked."""
    sizes = [size for leaf in _tensors(case) if leaf.dtype != torch.bool for size in leaf.shape]  # masks broadcast
    numbers = case.size()
    finite = all(bool(leaf.isfinite().all()) for leaf in _tensors(case))
    sized = all(size > 1 for size in sizes), numbers <= SHOWN, min(len(set(sizes)), 3)
    return (finite, numbers > 1, *sized[:1], len(_tensors(case)), *sized[1:], -numbers)


def _tensors(case: Case) -> list[Tensor]:
    return [leaf for leaf in tree_flatten((case.args, case.kwargs))[0] if isinstance(leaf, Tensor)]


def usable(exercise: Exercise, case: Case, run: CodeRunner, text: str) -> Case | None:
    """The case with inputs of whole numbers, or as it was drawn; None if the answer gives what the reference does not.

    The answer is asked twice: one that draws random numbers has no keys.
    """
    reference = in_own_form(exercise, reference_of(exercise))
    if not run.define(text):
        return None
    for candidate in (*_whole(case), case):
        wanted = observe(reference, Probe(candidate.value, candidate))
        if isinstance(wanted, RaisedError) or not _is_finite(wanted):
            continue
        if all(compare(wanted, run.ask(candidate), candidate.tolerance) is None for _ in range(2)):
            return candidate
    return None


def _is_finite(value: Any) -> bool:
    return all(not bool(leaf.isnan().any()) for leaf in tree_flatten(value)[0]
               if isinstance(leaf, Tensor) and leaf.is_floating_point())  # fmt: skip


def _whole(case: Case) -> Iterator[Case]:
    """The case with small whole numbers in the place of its fractions."""
    if not any(leaf.is_floating_point() for leaf in _tensors(case)):
        return
    for low, high in RANGES:
        generator = torch.Generator().manual_seed(case.size() + low)

        def drawn(leaf: Tensor, low: int = low, high: int = high, generator: Any = generator) -> Tensor:
            if not bool(leaf.isfinite().all()):
                return leaf
            return torch.randint(low, high, leaf.shape, generator=generator).to(leaf.dtype)

        yield case.to(drawn)


def double(case: Case) -> Case:
    """The case in float64, which rounds elsewhere."""
    state = None if case.state is None else tree_map(_as_double, case.state)
    return replace(case.to(_as_double), state=state, dtype=None if case.state is None else torch.float64)


def _as_double(leaf: Any) -> Any:
    return leaf.double() if isinstance(leaf, Tensor) and leaf.is_floating_point() else leaf


@dataclass(frozen=True)
class ExampleCall:
    """A case with the names of its arguments, and what a reader sees of it."""

    case: Case
    names: tuple[str, ...]
    shown: ShownCall

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name."""
        return {**dict(zip(self.names, self.case.args, strict=False)), **self.case.kwargs}


def call_of(exercise: Exercise, case: Case) -> ExampleCall:
    """The call as a reader sees it."""
    names = parameters_of(case, reference_of(exercise))[: len(case.args)]
    names += [f"argument_{n}" for n in range(len(names), len(case.args))]
    given = {**dict(zip(names, case.args, strict=True)), **case.kwargs}
    shown = {name: _shown(value, len(name) + 3) for name, value in given.items()}
    listed = [name for name, text in shown.items() if tensors_in(given[name]) or len(text) > INLINE]
    arguments = ", ".join(name if name in listed else f"{name}={text}" for name, text in shown.items())
    made = case.symbol if case.init is None else f"{case.symbol}({', '.join(_shown(one) for one in case.init)})"
    call = f"{made}.{case.method}({arguments})" if case.method else f"{made}({arguments})"
    whole = case.size() <= SHOWN and not case.state and all(len(text) <= TOO_LONG for text in shown.values())
    return ExampleCall(case, tuple(names), ShownCall(call, tuple(f"{name} = {shown[name]}" for name in listed), whole))


def tensors_in(value: Any) -> bool:
    """Whether there is a tensor in the value."""
    return any(isinstance(leaf, Tensor) for leaf in tree_flatten(value)[0])


def _shown(value: Any, indent: int = 0) -> str:
    """A value as a reader would write it, a row of a tensor in each line; of a large tensor its shape."""
    if isinstance(value, Tensor):
        if value.numel() <= SHOWN:
            return f"tensor({_in_lines(value.tolist(), indent + len('tensor('))})"
        return say(TENSOR, shape=list(value.shape))
    if isinstance(value, list | tuple) and tensors_in(value):
        return f"[{', '.join(map(_shown, value))}]"
    if callable(value) and not isinstance(value, type):
        return say(FUNCTION)
    text = repr(value) if isinstance(value, str | bytes | dict | list | tuple | set) else str(value)
    return text if len(text) <= TOO_LONG else f"{text[: TOO_LONG - 1]}…"


def _in_lines(value: Any, indent: int) -> str:
    """Nested lists, of which only the innermost are in one line."""
    if not isinstance(value, list) or not value or not isinstance(value[0], list):
        return _nested(value)
    between = ",\n" + " " * (indent + 1)
    return f"[{between.join(_in_lines(one, indent + 1) for one in value)}]"


def value_text(value: Any) -> str:
    """A tensor's entries, or any other value, with at most two decimals."""
    if isinstance(value, Tensor):
        return _nested(value.tolist())
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list | tuple):
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        return f"{opening}{', '.join(map(value_text, value))}{closing}"
    return repr(value)


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    return str(value) if isinstance(value, bool) else number_text(value)


def number_text(value: float) -> str:
    """A number with at most two decimals, and without a sign of zero."""
    if not math.isfinite(value):
        return str(value)
    return f"{round(float(value), 2) + 0.0:.2f}".rstrip("0").rstrip(".")
