"""What a kernel has not run: one that was restarted knows nothing, which is no mistake of an answer's.

A name that only cells of the notebook define which have not been run was forgotten; any other unknown name is a
mistake. The notebook is read from its file, of which Jupyter tells its kernels.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from autograder.console.kernel import open_notebook
from autograder.exercises import registry
from autograder.exercises.parse import defined_names

NAME_ERROR = re.compile(r"NameError: name '(\w+)' is not defined")
MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)


def missing_answer(exercise: str, history: Iterable[str], namespace: Container[str] = ()) -> list[str]:
    """The names that an answer must define, where neither the cells that were run nor the kernel have any of them.

    history: the cells that were run; namespace: the names that the kernel knows.
    """
    try:
        symbols = registry.find(exercise).symbols
    except (registry.UnknownExercise, registry.TwoExercises):  # the check says so
        return []
    known = names_defined_by(history)
    return [] if any(symbol in known or symbol in namespace for symbol in symbols) else list(symbols)


def missing_names(found: Mapping[str, Any], history: Iterable[str], namespace: Container[str] = ()) -> list[str]:
    """The names that a failed answer stopped at, which only cells above its check define that have not been run.

    found: a verdict as JSON; the others as in `missing_answer`.
    """
    if found["status"] != "failed":
        return []
    messages = "\n".join(str(check["message"]) for check in found["checks"])
    known = names_defined_by(history)
    stopped = dict.fromkeys(NAME_ERROR.findall(messages))
    unknown = [name for name in stopped if name not in known and name not in namespace]
    above = names_defined_by(cells_above_check(found["exercise"])) if unknown else set()
    return [name for name in unknown if name in above]


def names_defined_by(sources: Iterable[str]) -> set[str]:
    """The names that these cells define, or import."""
    return {name for source in sources for name in defined_names(MAGIC.sub("", source), imports=True)}


def cells_above_check(exercise: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The code cells of this kernel's notebook up to the exercise's check; none if the notebook cannot be read."""
    try:
        notebook = open_notebook(environment)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        marks = [cell["metadata"].get("tfkit", {}) for cell in cells]
        sources = ["".join(cell["source"]) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # a console, another front end, a damaged file
        return []
    check = {"role": "check", "exercise": exercise}
    ends = [n for n, mark in enumerate(marks) if {key: mark.get(key) for key in check} == check]
    return sources[: ends[0]] if ends else sources
