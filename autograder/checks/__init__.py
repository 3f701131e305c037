"""What a unit's checks.py needs. Only this package of the autograder imports tfkit."""

from autograder.checks.decoding import TableModel, search
from autograder.checks.probe import Case, Check, Draw, Part, Probe
from autograder.checks.properties import (
    contiguity,
    edges,
    extremes,
    flow,
    function,
    gradients,
    module,
    parameters,
    precision,
    values,
)
from autograder.checks.traces import changed_there, keep_there, purity
from autograder.checks.train import squares, trains, words
from autograder.checks.work import ATTENTION, RECURRENT, built, cost

__all__ = [
    "ATTENTION",
    "RECURRENT",
    "Case",
    "Check",
    "Draw",
    "Part",
    "Probe",
    "TableModel",
    "built",
    "changed_there",
    "contiguity",
    "cost",
    "edges",
    "extremes",
    "flow",
    "function",
    "gradients",
    "keep_there",
    "module",
    "parameters",
    "precision",
    "purity",
    "search",
    "squares",
    "trains",
    "values",
    "words",
]
