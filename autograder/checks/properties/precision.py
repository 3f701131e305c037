"""Other dtypes in, the same dtype out."""

from __future__ import annotations

import torch

from autograder.checks.probe import Check
from autograder.checks.properties._probes import Cases, cast, value_probe


def precision(cases: Cases, dtype: torch.dtype, weight: float = 1.0) -> Check:
    """Inputs (and parameters) in another dtype: the result has that dtype too, and is as exact as it allows."""
    name = f"{str(dtype).removeprefix('torch.')} in, {str(dtype).removeprefix('torch.')} out"
    probes = lambda draw, reference: [value_probe(cast(case, dtype), reference) for case in cases(draw)]
    return Check(name, probes, weight, property="dtypes")
