"""The reference, imported from the library, with the same methods as a student's code."""

from __future__ import annotations

import importlib
from functools import cache

from autograder.api import Exercise
from autograder.checks.local import LocalSubject


@cache
def reference_of(exercise: Exercise) -> LocalSubject:
    """The exercise's symbols as the library defines them; raises ImportError or AttributeError if it does not."""
    namespace = {}
    for symbol, dotted in zip(exercise.symbols, exercise.references, strict=True):
        module, name = dotted.split(":")
        namespace[symbol] = getattr(importlib.import_module(module), name)
    return LocalSubject(namespace)
