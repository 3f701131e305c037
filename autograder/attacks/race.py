"""Attacks on the clock: answers that take eight times as long as the reference, and try to look as quick.

An attack is a file `clock/<name>.py` that defines `scores`. Given are torch, `slow`, which is right, and `write_all`
and `read_all` for an answer that goes through a pipe. An attack that approximates instead of working must be found to
be wrong. They need no class and no nbgrader: each is judged by `speed` in a box of its own. `On a card only: …` says of
some why they are listed, but not played without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.api import Limits
from autograder.attacks.stage import Attack
from autograder.attacks.trial import Damage
from autograder.checks import Case, Draw, speed
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Finding, examine
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Cell, SandboxClient

CLOCK = Path(__file__).resolve().parent / "clock"
AT_MOST = 2.0
LIMITS = Limits(call_s=4.0, wall_s=60.0, memory_mb=1024, processes=16)
REFERENCE = """
import torch

def scores(x, w):
    return (x @ w).softmax(-1)
"""
PRELUDE = """
import os

import torch

def slow(x, w):
    for _ in range(8):
        out = (x @ w).softmax(-1)
    return out

def write_all(end, out):
    data = memoryview(out.contiguous().numpy().tobytes())
    while data:
        data = data[os.write(end, data) :]

def read_all(end):
    parts = []
    while part := os.read(end, 1 << 20):
        parts.append(part)
    return torch.frombuffer(bytearray(b"".join(parts)), dtype=torch.float32).reshape(512, 512)
"""


def tricks() -> list[Attack]:
    """The attacks on the clock that can be played without a card."""
    return [trick for trick in map(Attack, sorted(CLOCK.glob("*.py"))) if not trick.needs_card]


def run_race(
    players: Sequence[Attack], backend: Backend, seed: int, tell: Callable[[str], object] = len
) -> list[Damage]:
    """What each trick got by it. `tell` gets the name of each before it is judged."""
    found = []
    for trick in players:
        tell(trick.name)
        what = gained_by(judge(PRELUDE + trick.text, backend, seed))
        if what:
            found.append(Damage(what, trick.name))
    return found


def judge(source: str, backend: Backend, seed: int) -> Finding:
    """What `speed` finds of an answer in a new box."""
    with SandboxClient(backend, LIMITS) as student:
        student.run_cells([Cell("answer", source)])
        (found,) = examine(
            [speed(_case, "too slow", at_most=AT_MOST)], student, LocalSubject.from_source(REFERENCE), seed
        )
    return found


def gained_by(finding: Finding) -> str:
    """What a slow or wrong answer got; empty if the check failed, as it must."""
    if finding.failed:
        return ""
    return f"was not judged: {finding.check.not_run}" if finding.check.not_run else "passed as quick"


def _case(draw: Draw) -> Case:
    return Case("scores", (draw.normal(512, 512), 0.05 * draw.normal(512, 512)), length=512, amplify=4.0)
