"""What a unit's checks.py needs. Only this package of the autograder imports torch."""

from autograder.checks.decoding import TableModel, search
from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties import (
    contiguity,
    extremes,
    flow,
    function,
    gradients,
    module,
    parameters,
    precision,
    purity,
    values,
)

__all__ = [
    "Case",
    "Check",
    "Draw",
    "Probe",
    "TableModel",
    "contiguity",
    "extremes",
    "flow",
    "function",
    "gradients",
    "module",
    "parameters",
    "precision",
    "purity",
    "search",
    "values",
]
