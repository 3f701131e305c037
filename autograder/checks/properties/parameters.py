"""Names and shapes of the state dict."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from autograder.checks.probe import Case, Check, Probe
from autograder.checks.properties._probes import Cases

PARAMETERS = "parameter names and shapes"


def parameters(cases: Cases, weight: float = 1.0) -> Check:
    """The state dict has the names and shapes of the exercise; nothing else can be loaded."""
    return Check(
        PARAMETERS,
        lambda draw, _: [Probe(partial(_shapes, case), case) for case in cases(draw)],
        weight,
        True,
        property="shapes",
    )


def _shapes(case: Case, subject: Any) -> dict[str, list[int]]:
    return {key: list(shape) for key, shape in replace(case, state=None).build(subject).state_shapes().items()}
