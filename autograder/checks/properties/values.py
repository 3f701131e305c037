"""The same values as the reference."""

from __future__ import annotations

from autograder.checks.probe import Check
from autograder.checks.properties._probes import Cases, value_probe


def values(cases: Cases, name: str = "right values", weight: float = 3.0, core: bool = True) -> Check:
    """The same values as the reference, in float32. Core: the answers' shapes and types earn points of their own."""
    shapes = 2.0 if core else 0.0
    return Check(
        name,
        lambda draw, reference: [value_probe(case, reference) for case in cases(draw)],
        weight,
        core,
        shapes=shapes,
    )
