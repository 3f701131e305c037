"""A class of attackers, graded by the real nbgrader command in every box that works here."""

from __future__ import annotations

import ctypes
import os
import time

import pytest

from autograder.exercises import registry
from autograder.grade import run
from autograder.sandbox import SandboxError, backends, choose

from .stage import ANSWER, HONEST, UNIT, Attack, Class, Machine, attacks, descendants

ISOLATED = [kind for kind in backends() if kind.isolated]  # the plain one promises nothing
QUICK = """
    scoring-comparison-patched scoring-subclass-agrees kernel-frames-walked kernel-reference-imported
    kernel-agent-replaced kernel-threads-left files-reference-read files-key-read files-gradebook-written
    files-modes-changed files-left-for-the-next files-left-found files-environment-read processes-daemon
    processes-everyone-killed processes-parent-traced network-tcp-local network-abstract-socket network-unix-socket
    resources-memory-of-python output-bundle-forged frames-garbage frames-tensor-lies metadata-execution-skipped
    metadata-check-twice metadata-verdict-written gpu-answer-elsewhere
""".split()  # noqa: SIM905


@pytest.fixture(params=ISOLATED, ids=lambda kind: kind.name)
def backend(request):
    backend = request.param()
    try:
        backend.probe()
    except SandboxError as error:
        pytest.skip(f"not here: {error}")
    finally:
        backend.close()
    return backend.name


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path)
    machine.course.mkdir()
    yield machine
    machine.close()


@pytest.fixture
def orphans():
    """Processes that outlive their parents come to this one, where they are seen."""
    libc = ctypes.CDLL(None)
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    yield
    libc.prctl(36, 0, 0, 0, 0)


def play(machine: Machine, backend: str, players: list[Attack]) -> list[str]:
    """Grades the class, then looks at everything that an attack could have changed: what was."""
    running = descendants(os.getpid())
    played = Class(machine, backend, players)
    before = machine.fingerprint()
    log, peak = played.nbgrader("autograde", UNIT)
    after = machine.fingerprint()
    found = [f"changed: {path}" for path in {*before, *after} if before.get(path) != after.get(path)]
    found += machine.touched()
    found += [f"process {pid} is left" for pid in left_behind(running)]
    if peak >= 1 << 30:
        found.append(f"the grader took {peak >> 20} MB")
    if log.rindex(HONEST) < log.rindex(players[-1].name):
        found.append("the honest student was not graded last")
    return found + unfair(played, backend, players)


def unfair(played: Class, backend: str, players: list[Attack]) -> list[str]:
    """Scores that are not what the student earned, and verdicts that are none."""
    scores = played.scores()
    if set(scores) != {attack.name for attack in players} | {HONEST}:
        return [f"scores of {', '.join(sorted(scores))}"]
    found = [] if scores[HONEST] == (1.0, None) else [f"{HONEST}: {scores[HONEST]}"]
    for attack in players:
        verdict = played.verdict(attack.name)
        told = verdict["status"] in ("passed", "failed") and verdict["sandbox"] in ("", backend)
        if not told or verdict["score"] > attack.worth or scores[attack.name] != (verdict["score"], None):
            found.append(f"{attack.name}: {scores[attack.name]}, {verdict}")
    return found


def left_behind(before: set[int]) -> set[int]:
    """What still runs below this process and did not before; the last ones get a moment to be reaped."""
    for _ in range(50):
        left = descendants(os.getpid()) - before
        if not left:
            break
        time.sleep(0.1)
    return left


def test_there_are_attacks_of_every_family():
    families = {attack.path.parent.name for attack in attacks()}
    assert families == {"scoring", "kernel", "files", "processes", "network", "resources", "output", "metadata",
                        "frames", "gpu"}  # fmt: skip
    assert len(attacks()) >= 70
    assert all(attack.text.startswith('"""') for attack in attacks())


@pytest.mark.parametrize("won", [True, False])
def test_an_attack_that_wins_is_paid(won):
    """Otherwise the scores of the attacks would say nothing."""
    verdict = run.grade_source(registry.find("rnn.cell"), f"won = {won}\n{ANSWER}", backend=choose())
    assert verdict.score == (1.0 if won else 0.0)


def test_a_few_in_the_strongest(machine, orphans):
    players = [attack for attack in attacks() if attack.name in QUICK]
    assert len(players) == len(QUICK)
    assert play(machine, choose().name, players) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all(machine, orphans):
    assert play(machine, choose().name, attacks()) == []


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all_in_every_box(backend, machine, orphans):
    assert play(machine, backend, attacks()) == []
