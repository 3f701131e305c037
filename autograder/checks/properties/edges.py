"""Values and gradients at edge cases."""

from __future__ import annotations

from typing import Any

from autograder.checks.probe import Check, Draw, Probe
from autograder.checks.properties._probes import Cases, gradient_probe, value_probe


def edges(cases: Cases, name: str, weight: float = 2.0, later: str = "") -> Check:
    """Values and gradients at edge cases: a fully masked row, a mean over nothing.

    An answer that is wrong only here loses at most a quarter of the points. `later`: the unit that teaches the edge, if
    it is not this one; then a failure is reported, but costs nothing.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """Two probes for each case."""
        drawn = list(cases(draw))
        return [value_probe(case, reference) for case in drawn] + [
            gradient_probe(case, draw, reference) for case in drawn
        ]

    return Check(name, probes, 0.0 if later else weight, property="edges", graded=not later, later=later)
