"""Proofs of hunts: what holds is told, and what does not is complained of."""

from dataclasses import replace

import pytest

from autograder.exercises import registry
from autograder.exercises.answers import EditedAnswer
from autograder.hunts import make
from autograder.hunts.prove import Prover, prove_exercise, summary
from autograder.hunts.symptom import question_sets

CAUSAL = registry.find("masks.causal")


@pytest.fixture(scope="module")
def prover():
    return Prover(CAUSAL, question_sets(CAUSAL, 0))


@pytest.mark.parametrize("name", ["masks.causal", "rnn.cell"])
def test_all_hunts_of_an_exercise_are_proved(name):
    (found,) = prove_exercise(name, 0, 1, None)
    assert found.complaints == [] and len(found.proofs) == len(make.hunts(registry.find(name)))
    assert all(proof.observable and proof.difficulty in (1, 2, 3) for proof in found.proofs)


def test_hunts_with_two_faults_are_proved():
    (found,) = prove_exercise("attention.scaled_dot_product", 0, 2, 2)
    assert found.complaints == [] and len(found.proofs) == 2


def edited(change: str) -> make.Hunt:
    base = make.find("masks.causal/sees_one_ahead").faults[0]
    return make.Hunt(CAUSAL, (EditedAnswer("changed", base.base, "A sentence.", change),))


def test_a_change_without_effect_is_complained_of(prover):
    line = "return torch.ones(length, length, dtype=torch.bool).tril()"
    proof = prover.prove(edited(f"-    {line}\n+    {line.replace('tril()', 'tril(diagonal=0)')}"))
    assert proof.complaints == ("no check sees the fault", "nothing is seen of the fault") and not proof.observable


def test_a_wrong_repair_is_complained_of(prover):
    hunt = make.find("masks.causal/sees_one_ahead")
    hunt.__dict__["repair"] = hunt.code.replace("diagonal=1", "diagonal=2")  # what a wrong base would be
    assert any("the repair fails" in line for line in prover.prove(hunt).complaints)


def test_a_fault_that_another_one_hides_is_complained_of(prover):
    hunt = make.find("masks.causal/sees_one_ahead")
    idle = edited("-import torch\n+import torch  # idle").faults[0]
    proof = prover.prove(make.Hunt(CAUSAL, (hunt.faults[0], replace(idle, stem="idle"))))
    assert proof.complaints == ("with sees_one_ahead repaired alone nothing is wrong",)


def test_the_summary_counts():
    (found,) = prove_exercise("masks.causal", 0, 1, 3)
    assert summary(found.proofs).startswith("3 hunts: 3 observable by checks and symptom, 3 without a complaint")
