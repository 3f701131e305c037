"""Every claim runs, at a size where nothing is learned: its parts fit together and say all they have to."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass

import pytest

from research import Measurement
from research.page import claim_text
from research.runs import claims, load

OURS = [name for name, source in claims().items() if source.startswith("research.claims.")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", OURS)
def test_a_claim_runs(name):
    module = load(name)
    numbers = json.loads(json.dumps(module.run(0, module.SCALES["tiny"])))
    findings = module.judge([numbers, numbers])
    assert findings and all(isinstance(finding, Measurement) and 1 <= len(finding.values) <= 2 for finding in findings)
    drawn = module.draw([numbers, numbers])
    drawn.canvas.draw()
    assert all(axis.get_xlabel() or axis.get_ylabel() for axis in drawn.axes), "axes say what they show"


@pytest.mark.parametrize("name", OURS)
def test_a_claim_says_what_it_is(name):
    module = load(name)
    assert module.CLAIM.title and module.CLAIM.paper and len(module.CLAIM.alt) > 20
    assert "measured" in claim_text(module).lower(), "the docstring says what is measured"
    assert {"tiny", "small", "full"} <= module.SCALES.keys()
    assert all(is_dataclass(size) and json.dumps(asdict(size)) for size in module.SCALES.values())
