"""Vector-Jacobian products of inputs and parameters."""

from __future__ import annotations

from autograder.checks.probe import Check
from autograder.checks.properties._probes import Cases, gradient_probe


def gradients(cases: Cases, weight: float = 1.0) -> Check:
    """The vector-Jacobian product of every input and parameter, for a random vector; a NaN counts as wrong."""
    probes = lambda draw, reference: [gradient_probe(case, draw, reference) for case in cases(draw)]
    return Check("gradients", probes, weight, property="gradients")
