"""All standard checks of a class."""

from __future__ import annotations

import torch

from autograder.checks.probe import Check
from autograder.checks.properties._probes import Cases, with_long
from autograder.checks.properties.contiguity import contiguity
from autograder.checks.properties.gradients import gradients
from autograder.checks.properties.parameters import parameters
from autograder.checks.properties.precision import precision
from autograder.checks.properties.purity import purity
from autograder.checks.properties.values import values


def module(cases: Cases, floats: bool = True, long: Cases | None = None) -> list[Check]:
    """All standard checks of a class whose instances get random parameters. `long`: as in `function`."""
    checks = [parameters(cases), values(with_long(cases, long)), gradients(cases), purity(cases)]
    if floats:
        checks += [precision(cases, torch.float64), precision(cases, torch.bfloat16), contiguity(cases)]
    return checks
