"""Non-contiguous inputs."""

from __future__ import annotations

from typing import Any

from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties._probes import Cases, value_probe


def contiguity(cases: Cases, weight: float = 1.0) -> Check:
    """The same values from inputs that are non-contiguous views."""

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """The reference gets the same non-contiguous views."""
        return [value_probe(_scattered(case), reference) for case in cases(draw)]

    return Check("non-contiguous inputs", probes, weight, property="dtypes")


def _scattered(case: Case) -> Case:
    return case.to(lambda t: t.transpose(0, -1).contiguous().transpose(0, -1) if t.dim() > 1 else t)
