"""Finds where a solution of several steps goes wrong: the first submodule with a wrong input or output.

A graded class has submodules of fixed names, so the student's can be compared with the reference's one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from autograder.checks.compare import compare
from autograder.checks.probe import FATAL, Answer, Finding
from autograder.feedback.translate import say
from autograder.sandbox.client import StudentError

SPY = '''
import torch


def spy_steps(module, method, args):
    """(name, floating inputs, floating outputs) of each submodule, as they finish; the inputs as they came in."""
    seen, hooks, waiting = [], [], {}

    def floats(value):
        if isinstance(value, torch.Tensor):
            return [value.detach().clone()] if value.is_floating_point() else []
        if isinstance(value, dict):
            value = list(value.values())
        return [leaf for part in value for leaf in floats(part)] if isinstance(value, (list, tuple)) else []

    for name, part in module.named_modules():
        if name:
            def before(part, args, kwargs, name=name):
                waiting.setdefault(name, []).append(floats([args, kwargs]))

            def after(part, args, kwargs, out, name=name):
                seen.append([name, waiting[name].pop(), floats(out)])

            hooks += [part.register_forward_pre_hook(before, with_kwargs=True),
                      part.register_forward_hook(after, with_kwargs=True)]
    try:
        getattr(module, method or "forward")(*args)
    finally:
        for hook in hooks:
            hook.remove()
    return [sorted(name for name, _ in module.named_modules() if name), seen]
'''


def first_wrong_step(findings: Sequence[Finding], subject: Any, reference: Any) -> str | None:
    """A sentence on the first submodule with a wrong input or output; None if it cannot be found.

    It calls the subject once more, on the smallest core case that failed; a box that died meanwhile gives no answer.
    """
    answer = _smallest(findings)
    if answer is None:
        return None
    case = answer.probe.case
    try:
        known, seen = _steps(case, subject)
    except (StudentError, ValueError, TypeError):  # the code failed, or returned something unexpected
        return None
    _, right = _steps(case, reference)
    return _first(right, known, seen, case.tolerance)


def _smallest(findings: Sequence[Finding]) -> Answer | None:
    answers = [
        answer
        for finding in findings
        for answer in finding.failed
        if finding.check.core and answer.probe.case.init is not None and isinstance(answer.expected, (Tensor, tuple))
        and getattr(answer.actual, "kind", None) not in FATAL
    ]  # fmt: skip
    return min(answers, key=lambda answer: answer.probe.case.size(), default=None)


def _steps(case: Any, subject: Any) -> tuple[list[str], list[tuple[str, list[Any], list[Any]]]]:
    module = case.build(subject)
    subject.bind(SPY, ["spy_steps"])
    known, seen = subject.call("spy_steps", module, case.method, list(case.args))
    return [str(name) for name in known], [(str(name), list(gets), list(gives)) for name, gets, gives in seen]


def _first(right: list[Any], known: list[str], seen: list[Any], tolerance: Any) -> str | None:
    """Compares the reference's steps in order, each with the student's n-th step of that name."""
    for index, (name, gets, gives) in enumerate(right):
        if name not in known:
            continue
        turn = sum(other == name for other, _, _ in right[:index])
        calls = [step for step in seen if step[0] == name]
        if len(calls) <= turn:
            return (
                say("`{name}` is not called often enough", name=name)
                if calls
                else say("`{name}` is not called", name=name)
            )
        if len(calls[turn][1]) == len(gets) and compare(gets, calls[turn][1], tolerance):
            return say("the inputs of `{name}` are wrong; all steps before it are right", name=name)
        if compare(gives, calls[turn][2], tolerance):
            return say("the output of `{name}` is wrong; its inputs are right", name=name)
    return (
        say("all layers have the right inputs and outputs; what is done with their results is wrong") if right else None
    )
