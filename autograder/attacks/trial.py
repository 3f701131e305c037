"""Lets a class of attackers be graded, and finds what they got: points, harm to others, traces on the machine."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autograder.attacks.stage import HONEST, UNIT, Attack, Class, Machine, descendants
from autograder.feedback.text import one_line

CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, of prctl
MOST_BYTES = 1 << 30  # of memory that the grader's own process may hold


@dataclass(frozen=True)
class Damage:
    """Something that an attack got. `student`: whose points show it; empty for what the machine shows afterwards."""

    what: str
    student: str = ""


def play(
    machine: Machine, settings: Mapping[str, Any], players: Sequence[Attack], tell: Callable[[str], object] = len
) -> list[Damage]:
    """Grades the class, then looks at everything that an attack could have changed: what was.

    settings: of `BoxedExecute`, with `sandbox`; tell: gets each line of nbgrader's log. Raises StageError.
    """
    running = descendants(os.getpid())
    played = Class(machine, settings, list(players))
    before = machine.fingerprint()
    log, peak = played.nbgrader("autograde", UNIT, tell=tell)
    after = machine.fingerprint()
    found = [f"changed: {path}" for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    found += machine.traces()
    found += [f"process {pid} is left" for pid in _left_behind(running)]
    if peak >= MOST_BYTES:
        found.append(f"the grader took {peak >> 20} MB")
    if log.rindex(HONEST) < log.rindex(players[-1].name):
        found.append("the honest student was not graded last")
    return [Damage(what) for what in found] + unfair(played, settings["sandbox"], players)


def unfair(played: Class, backend: str, players: Sequence[Attack]) -> list[Damage]:
    """Scores that are not what the student earned, and verdicts that are none."""
    scores, everyone = played.scores(), {attack.name for attack in players} | {HONEST}
    found = [Damage("was not graded", student) for student in sorted(everyone - scores.keys())]
    found += [Damage(f"a student {one_line(student)!r} is in the gradebook") for student in scores.keys() - everyone]
    if scores.get(HONEST, (1.0, None)) != (1.0, None):
        found.append(Damage(f"{scores[HONEST][0]:g} of 1, but it is right", HONEST))
    for attack in players:
        if attack.name not in scores:
            continue
        verdict, (score, by_hand) = played.verdict(attack.name), scores[attack.name]
        if verdict["status"] not in ("passed", "failed") or verdict["sandbox"] not in ("", backend):
            found.append(Damage(f"{verdict['status']} in {backend}: {one_line(verdict['reason'] or '')}", attack.name))
        elif verdict["score"] > attack.worth:
            found.append(Damage(f"paid {verdict['score']:g} of 1, but it is worth {attack.worth:g}", attack.name))
        elif (score, by_hand) != (verdict["score"], None):
            found.append(Damage(f"{score:g} in the gradebook, but the verdict is {verdict['score']:g}", attack.name))
    return found


def _left_behind(before: set[int]) -> set[int]:
    """What still runs below this process and did not before; the last ones get a moment to be reaped."""
    for _ in range(50):
        left = descendants(os.getpid()) - before
        if not left:
            break
        time.sleep(0.1)
    return left


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Inside, processes that outlive their parents come to this one, where they are seen."""
    libc = ctypes.CDLL(None)
    libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(CHILD_SUBREAPER, 0, 0, 0, 0)
