"""Values and gradients where little is left."""

from __future__ import annotations

from typing import Any

from autograder.checks.probe import Check, Draw, Probe
from autograder.checks.properties._probes import Cases, gradient_probe, value_probe


def edges(cases: Cases, name: str, weight: float = 2.0, later: str = "") -> Check:
    """Values and gradients where little is left: a row that may see nothing, a mean over nothing.

    What is right but for them loses at most a quarter of the points. `later`: which unit teaches it, where that is not
    this one; then it is said, and costs nothing.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """Two for each case."""
        drawn = list(cases(draw))
        return [value_probe(case, reference) for case in drawn] + [
            gradient_probe(case, draw, reference) for case in drawn
        ]

    return Check(name, probes, 0.0 if later else weight, property="edges", graded=not later, later=later)
