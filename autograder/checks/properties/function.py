"""All standard checks of a function."""

from __future__ import annotations

import torch

from autograder.checks.probe import Check
from autograder.checks.properties._probes import Cases, with_long
from autograder.checks.properties.contiguity import contiguity
from autograder.checks.properties.gradients import gradients
from autograder.checks.properties.precision import precision
from autograder.checks.properties.purity import purity
from autograder.checks.properties.values import values


def function(cases: Cases, floats: bool = True, long: Cases | None = None, scatter_ids: bool = False) -> list[Check]:
    """All standard checks of a function. `floats`: its inputs are floating point, and it has gradients.

    `long`: cases beyond the end of any table, of which only the values are checked. `scatter_ids`: integers and truths
    are non-contiguous in the check of such inputs, too.
    """
    checks = [values(with_long(cases, long)), purity(cases)]
    if floats:
        checks += [
            precision(cases, torch.float64),
            precision(cases, torch.bfloat16),
            gradients(cases),
            contiguity(cases, scatter_ids=scatter_ids),
        ]
    return checks
