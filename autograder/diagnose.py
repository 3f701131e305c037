"""Names the misconception: which of an exercise's wrong answers says the same as the student to every probe."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.api import Exercise

if TYPE_CHECKING:
    from autograder.checks.local import Local
    from autograder.checks.probe import Answer, Finding

SHOWN = 64  # a counter-example with more numbers than this is no help to a reader


@dataclass(frozen=True)
class Misconception:
    """A wrong answer's name and the sentence it has for the student."""

    name: str
    hint: str


def wrong_answers(exercise: Exercise) -> list[Path]:
    """The files of the exercise's wrong submissions."""
    if exercise.folder is None:
        return []
    return sorted((exercise.folder / "submissions" / exercise.id / "wrong").glob("*.py"))


def diagnose(exercise: Exercise, findings: Sequence[Finding]) -> Misconception | None:
    """The misconception that answers as the student does: to all probes, or else to all core ones that failed."""
    failed = [finding for finding in findings if finding.failed]
    if not failed:
        return None
    every = [answer for finding in findings for answer in finding.answers]
    core = [answer for finding in failed if finding.check.core for answer in finding.failed]
    noisy = [a for f in failed for a in f.failed if isinstance(a.actual, dict) and a.actual.get("random numbers")]
    for answers in (every, core, noisy):  # what draws random numbers never gives the same values again
        for path in wrong_answers(exercise) if answers else ():
            if _agrees(path, answers):
                return _misconception(path)
    return None


def _agrees(path: Path, answers: Sequence[Answer]) -> bool:
    from autograder.checks.compare import compare
    from autograder.checks.probe import observe

    subject = _subject(path)
    # what differs tells wrong answers apart soonest
    ordered = sorted(answers, key=lambda answer: answer.difference is None)
    return all(compare(observe(subject, a.probe), a.actual, a.probe.tolerance) is None for a in ordered)


@lru_cache(maxsize=256)
def _subject(path: Path) -> Local:
    from autograder.checks.local import Local

    namespace: dict[str, Any] = {"__name__": f"wrong_{path.stem}"}
    exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), namespace)
    return Local(namespace)


def _misconception(path: Path) -> Misconception:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem.replace("_", " ")
    return Misconception(path.stem, text)


def counterexample(exercise: Exercise, findings: Sequence[Finding]) -> dict[str, Any] | None:
    """The failing case with the fewest numbers: its inputs, the shape expected, and which entry is off by how much."""
    failed = [answer for finding in findings for answer in finding.failed]
    if not failed:
        return None
    answer = min(failed, key=_simplicity)
    case, difference = answer.probe.case, answer.difference
    assert difference is not None
    return {
        "call": case.symbol if case.init is None else f"{case.symbol}({', '.join(map(str, case.init))})",
        "inputs": {name: _shown(value) for name, value in _named_inputs(exercise, case).items()},
        "expected_shape": list(difference.shape) if difference.shape is not None else None,
        "entry": list(difference.where) if difference.where is not None else None,
        "off_by": difference.by if difference.by is not None and difference.by < float("inf") else None,
        "message": difference.message,
    }


def _simplicity(answer: Answer) -> tuple[bool, int]:
    """Few numbers first; a wrong entry says more than an exception."""
    return answer.difference is None or answer.difference.where is None, answer.probe.case.size()


def _named_inputs(exercise: Exercise, case: Any) -> dict[str, Any]:
    import inspect

    from autograder.checks.reference import reference_of

    target = reference_of(exercise).namespace[case.symbol]
    if case.init is not None:
        target = getattr(target, case.method or "forward")
    names = [name for name in inspect.signature(target).parameters if name != "self"]
    return {**dict(zip(names, case.args, strict=False)), **case.kwargs}


def _shown(value: Any) -> Any:
    if hasattr(value, "numel"):
        if value.numel() > SHOWN:
            return f"{str(value.dtype).removeprefix('torch.')} tensor of shape {list(value.shape)}"
        return value.tolist() if not value.is_floating_point() else _rounded(value.tolist())
    return (
        value
        if isinstance(value, (bool, int, float, str, list, dict, type(None)))
        else str(getattr(value, "shown", type(value).__name__))
    )


def _rounded(tree: Any) -> Any:
    return [_rounded(one) for one in tree] if isinstance(tree, list) else round(tree, 4)
