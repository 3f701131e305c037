"""Numerical stability at very large scores."""

from __future__ import annotations

from typing import Any

import torch

from autograder.checks.probe import Case, Check, Draw, Probe, on_floats
from autograder.checks.properties._probes import Cases, draw_cotangents, value_probe


def extremes(cases: Cases, weight: float = 1.0) -> Check:
    """Finite values and gradients where scores are very large."""

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """Two probes for each case: its values, then whether values and gradients are finite."""
        drawn = list(cases(draw))
        return [value_probe(case, reference) for case in drawn] + [_finite(case, draw, reference) for case in drawn]

    return Check("very large scores", probes, weight)


def _finite(case: Case, draw: Draw, reference: Any) -> Probe:
    """Gradients through a saturated softmax only need to be finite, since their size is rounding error."""
    vectors = draw_cotangents(case, draw, reference)
    return Probe(lambda subject: on_floats(case.gradients(subject, vectors), torch.isfinite), case)
