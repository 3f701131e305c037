"""On a machine where everything takes longer the same answer gets the same words: work is counted, and not timed."""

from __future__ import annotations

import itertools
import time

import pytest

from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.checks.reference import reference_of
from autograder.checks.shrink import shrink_counterexample
from autograder.corpus.judge import ask_reference
from autograder.diagnosis.diagnose import counterexample, diagnose
from autograder.diagnosis.kinds import kind
from autograder.exercises import registry

LOOK_S = 0.01  # what passes on the slow machine between two looks at a clock
NORMALISED = """
import torch.nn.functional as F
from torch import nn
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate, self.up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.down = nn.Linear(d_ff, d_model, bias=False)
    def forward(self, x):
        gate = F.silu(self.gate(x))
        return self.down(F.layer_norm(gate, gate.shape[-1:]) * self.up(x))
"""
SWIGLU = registry.find("modern.swiglu")


def make_slow(monkeypatch):
    for name in ("thread_time", "process_time", "monotonic", "perf_counter"):
        looks = itertools.count()
        monkeypatch.setattr(time, name, lambda looks=looks: next(looks) * LOOK_S)


@pytest.fixture(scope="module")
def asked():
    return ask_reference(SWIGLU, 5)


def told(asked, source):
    """All that is said of an answer: its name, the words for a mistake without one, and the smallest example."""
    subject = LocalSubject.from_source(source)
    findings = collect_answers(asked, subject)
    named = diagnose(SWIGLU, findings)
    findings = shrink_counterexample(findings, subject, reference_of(SWIGLU))
    return named, kind(SWIGLU, findings, reference_of(SWIGLU), subject), counterexample(SWIGLU, findings)


def test_the_same_is_said_where_everything_takes_longer(asked, monkeypatch):
    quick = told(asked, NORMALISED)
    make_slow(monkeypatch)
    assert told(asked, NORMALISED) == quick
    assert quick[0] is None and "normalised" in quick[1] and quick[2] is not None
