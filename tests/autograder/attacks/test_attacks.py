"""A class of attackers, graded by the real nbgrader command in every box that works here."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.attacks.families import FAMILIES, SAMPLE
from autograder.attacks.race import tricks
from autograder.attacks.stage import ANSWER, HOSTILE, LIMITS, Attack, Machine, attacks
from autograder.attacks.trial import adopt_orphans, play
from autograder.exercises import registry
from autograder.grade import run
from autograder.sandbox import SandboxError, backends, choose

ISOLATED = [kind for kind in backends() if kind.isolated]  # the plain one promises nothing
TURNS = 6
IMPATIENT = LIMITS | {"call_s": 1.0}  # many attacks wait for a limit of time: of which one is of no account
REST = [attack for attack in attacks() if attack.name not in SAMPLE]


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
    with adopt_orphans():
        yield


def faults(machine: Machine, backend: str, players: list[Attack], limits: dict = LIMITS) -> list:
    return play(machine, {"sandbox": backend, "limits": limits}, players)


def test_there_are_attacks_of_every_family():
    assert {attack.family for attack in attacks() + tricks()} == FAMILIES.keys()
    assert len(attacks()) >= 70
    assert all(attack.text.startswith('"""') and attack.aim.endswith(".") for attack in attacks() + tricks())
    assert {attack.name for attack in attacks() + tricks()} >= SAMPLE
    assert {attack.family for attack in attacks() + tricks() if attack.name in SAMPLE} == FAMILIES.keys()


def test_each_family_tests_a_promise_that_is_made():
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text(encoding="utf-8")
    table = page.partition("## What is promised\n")[2].partition("\n## ")[0]
    promises = {line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")}
    assert {family.promise for family in FAMILIES.values()} <= promises
    assert sorted(folder.name for folder in HOSTILE.iterdir() if folder.is_dir()) == sorted(FAMILIES.keys() - {"clock"})


@pytest.mark.parametrize("won", [True, False])
def test_an_attack_that_wins_is_paid(won):
    """Otherwise the scores of the attacks would say nothing."""
    verdict = run.grade_source(registry.find("rnn.cell"), f"won = {won}\n{ANSWER}", backend=choose())
    assert verdict.score == (1.0 if won else 0.0)


def test_a_few_in_the_strongest(machine, orphans):
    players = [attack for attack in attacks() if attack.name in SAMPLE]
    assert faults(machine, choose().name, players) == []


@pytest.mark.slow
@pytest.mark.sampled(TURNS)
@pytest.mark.parametrize("turn", range(TURNS))
def test_the_others_by_turns(turn, machine, orphans):
    """With those of the test above each attack is played once in so many days of work."""
    assert faults(machine, choose().name, REST[turn::TURNS], IMPATIENT) == []


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_in_every_box(backend, machine, orphans):
    """One class of all, with ordinary limits."""
    assert faults(machine, backend, attacks()) == []
