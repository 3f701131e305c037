"""What a unit's checks.py needs. Only this package of the autograder imports tfkit.

Beside the names below, every property can be imported from here: those of `autograder/checks/properties`, a file each,
and those that other packages add through the entry point group `autograder.checks`.
"""

from typing import Any

from autograder.checks import properties
from autograder.checks.decoding import TableModel, search
from autograder.checks.probe import Case, Check, Draw, Part, Probe
from autograder.checks.properties._spy import ATTENTION, RECURRENT
from autograder.checks.properties.purity import changed_in_subject, keep_in_subject
from autograder.checks.properties.trains import cross_entropy, squared_error

__all__ = [
    "ATTENTION",
    "RECURRENT",
    "Case",
    "Check",
    "Draw",
    "Part",
    "Probe",
    "TableModel",
    "changed_in_subject",
    "cross_entropy",
    "keep_in_subject",
    "search",
    "squared_error",
]


def __getattr__(name: str) -> Any:
    """A property by its name. Raises AttributeError if there is no such property."""
    if name.startswith("_") or name not in properties.places():
        raise AttributeError(f"autograder.checks has no {name!r}; its properties are {', '.join(properties.places())}")
    return properties.find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *properties.places()})
