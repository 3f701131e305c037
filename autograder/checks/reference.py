"""The reference, imported from the library, with the same methods as a student's code."""

from __future__ import annotations

import importlib
import inspect
from functools import cache

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case


@cache
def reference_of(exercise: Exercise) -> LocalSubject:
    """The exercise's symbols as the library defines them; raises ImportError or AttributeError if it does not."""
    namespace = {}
    for symbol, dotted in zip(exercise.symbols, exercise.references, strict=True):
        module, name = dotted.split(":")
        namespace[symbol] = getattr(importlib.import_module(module), name)
    return LocalSubject(namespace)


def parameters_of(case: Case, reference: LocalSubject) -> list[str]:
    """The names of the arguments of the function or method that a case calls."""
    target = reference.namespace[case.symbol]
    if case.init is not None:
        target = getattr(target, case.method or "forward")
    return [name for name in inspect.signature(target).parameters if name != "self"]
