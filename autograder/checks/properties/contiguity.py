"""Non-contiguous inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_map

from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties._probes import Cases, value_probe

LAYOUT = "non-contiguous inputs"  # the check's name


def contiguity(cases: Cases, weight: float = 1.0, scatter_ids: bool = False) -> Check:
    """The same values from inputs that are non-contiguous views; `scatter_ids`: not only those of floats."""

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """The reference gets the same non-contiguous views."""
        return [value_probe(_scattered(case, scatter_ids), reference) for case in cases(draw)]

    return Check(LAYOUT, probes, weight, property="dtypes")


def _scattered(case: Case, ids: bool) -> Case:
    if not ids:
        return case.to(_view)
    args, kwargs = tree_map(lambda leaf: _view(leaf) if isinstance(leaf, Tensor) else leaf, (case.args, case.kwargs))
    return replace(case, args=args, kwargs=kwargs)


def _view(value: Tensor) -> Tensor:
    return value.transpose(0, -1).contiguous().transpose(0, -1) if value.dim() > 1 else value
