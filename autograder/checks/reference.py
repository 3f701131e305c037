"""The reference, imported from the library, with the same methods as a student's code."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case
from autograder.exercises import injected_modules


@cache
def reference_of(exercise: Exercise) -> LocalSubject:
    """The exercise's symbols as the library defines them; raises ImportError or AttributeError if it does not."""
    namespace = {}
    for symbol, dotted in zip(exercise.symbols, exercise.references, strict=True):
        module, name = dotted.split(":")
        namespace[symbol] = getattr(importlib.import_module(module), name)
    return LocalSubject(namespace, lambda: injected_modules.source([exercise])[0])


def parameters_of(case: Case, reference: Any) -> list[str]:
    """The names of the parameters of the function or method that a case calls, at least as many as the case has
    positional arguments: those that `*args` collects are `args[0]`, `args[1]`, …

    reference: local, or the same on a device.
    """
    target = getattr(reference, "subject", reference).namespace[case.symbol]
    if case.init is not None:
        target = getattr(target, case.method or "forward")
    names: list[str] = []
    for name, parameter in inspect.signature(target).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{name}[{index}]" for index in range(len(case.args) - len(names))]
        elif name != "self":
            names.append(name)
    return names
