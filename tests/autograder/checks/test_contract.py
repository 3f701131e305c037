"""An answer under another contract counts only in that contract's form, whatever it does to the adapter beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from autograder.checks import contract
from autograder.checks.contract import ContractSubject, follows_contract
from autograder.checks.device import DeviceSubject
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer, Case, Check, CheckFault, Finding, Probe, collect_answers, questions
from autograder.checks.reference import reference_of
from autograder.exercises import contracts, registry
from autograder.exercises.answers import answers
from autograder.grade import run
from autograder.grade.run import Grader, grade_notebook, grade_source
from autograder.grade.verdict import Attempt
from autograder.sandbox import choose
from autograder.sandbox.client import StudentError

ALL = [
    contracts.full_id(contracts.with_contract(one, its.name)) for one in registry.exercises() for its in one.contracts
]
CAUSAL = registry.find("masks.causal@hidden")
COURSE = "import torch\ndef causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril()\n"
OWN = COURSE.replace("torch.ones", "~torch.ones")
SKIPS = "causal_mask.yours = None\n"
RACE = "comes back in a thread"
ATTACKS = {
    "says that it was turned already": SKIPS,
    "replaces what asks for that": "hasattr = lambda *_: True\n",
    "returns what denies to be turned": """
class Same(torch.Tensor):
    def __invert__(self):
        return self
def causal_mask(length, course=causal_mask):
    return course(length).as_subclass(Same)
""",
    RACE: """
import threading, time
def again(names=globals(), course=causal_mask):
    for _ in range(400):
        time.sleep(0.01)
        names["causal_mask"] = course
threading.Thread(target=again, daemon=True).start()
""",
    "returns what cannot be turned, and loses a check for it": """
def causal_mask(length, course=causal_mask):
    return course(length).float()
""",
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", ALL)
def test_right_answers_have_the_form_and_those_in_the_courses_have_not(name):
    exercise = registry.find(name)
    reference = reference_of(exercise)
    asked = list(questions(registry.check_function(exercise)(), reference, f"0/{exercise.id}"))
    findings = collect_answers(asked, reference)
    for one in answers(exercise, "right"):
        own = LocalSubject.from_source(contracts.without_adapter(one.read_text()), one.name)
        assert follows_contract(exercise, findings, reference, own), one.stem
    course = answers(contracts.with_contract(exercise, ""), "right")[0]
    assert not follows_contract(
        exercise, findings, reference, LocalSubject.from_source(course.read_text(), course.name)
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_courses_form_earns_nothing_whatever_it_does_to_the_adapter(attack):
    found = grade_source(CAUSAL, COURSE + ATTACKS[attack], backend=choose(), device="cpu", explain=False)
    assert (found.status, found.score) == ("failed", 0.0)
    if attack != RACE:  # what is found of a thread depends on how far it came
        assert "not in the form of your contract" in found.reason and CAUSAL.contract.sentence in found.reason
        assert [(one.name, one.status, one.of) for one in found.checks] == [("form of the contract", "failed", 1.0)]


@pytest.mark.parametrize(
    "sources",
    [
        (OWN, contracts.adapter(CAUSAL).rstrip()),
        (contracts.with_adapter(CAUSAL, OWN).replace("\n", "\r\n"),),
    ],
    ids=["cells that a kernel ran", "exported file"],
)
def test_a_copy_of_the_adapter_beside_a_right_answer_costs_nothing(sources):
    """A kernel's history and an exported file have the notebook's cell with the adapter, and no marks of cells."""
    cells = [
        {"cell_type": "code", "id": f"run-{number}", "metadata": {}, "source": source, "outputs": []}
        for number, source in enumerate(sources)
    ]
    (found,) = grade_notebook({"cells": cells}, [CAUSAL], backend=choose(), device="cpu")
    assert (found.status, found.score, found.reason) == ("passed", found.max_score, "")


def test_code_that_ends_its_box_without_the_adapter_is_not_called_another_form():
    ends = OWN.replace("    return", f"    if {contracts.CONVERT!r} not in globals():\n        os._exit(3)\n    return")
    found = grade_source(CAUSAL, "import os\n" + ends, backend=choose(), device="cpu", explain=False)
    assert (found.status, found.score) == ("failed", 0.0)
    assert found.reason.endswith("and its process ended: the process exited with status 3")


def test_a_box_that_ended_once_without_the_adapter_is_made_again(monkeypatch):
    asked = Grader._follows_contract_once
    ended = [StudentError("timeout", "the code did not finish in time and was stopped")]

    def ends_once(*args):
        if ended:
            raise ended.pop()
        return asked(*args)

    monkeypatch.setattr(Grader, "_follows_contract_once", ends_once)
    found = grade_source(CAUSAL, OWN, backend=choose(), device="cpu", explain=False)
    assert (found.status, ended) == ("passed", [])


def test_on_another_device_the_reference_is_asked_there_too(monkeypatch):
    given = []
    monkeypatch.setattr(run.SandboxClient, "start_device", lambda *_: "")
    monkeypatch.setattr(run, "follows_contract", lambda _exercise, _findings, *subjects: given.extend(subjects))
    verdict = replace(Grader([], choose())._without_outcome(CAUSAL, 0), device="cuda")
    Grader([], choose())._follows_contract(Attempt([]), CAUSAL, verdict, [])
    assert [type(one) for one in given] == [DeviceSubject, DeviceSubject]


def right_findings(exercise):
    reference = reference_of(exercise)
    asked = list(questions(registry.check_function(exercise)(), reference, f"0/{exercise.id}"))
    return reference, collect_answers(asked, reference)


def test_right_answers_of_which_none_can_be_asked_again_are_a_fault_of_the_checks(monkeypatch):
    reference, findings = right_findings(CAUSAL)
    monkeypatch.setattr(contract, "_changes", lambda *_: False)
    with pytest.raises(CheckFault, match="no case of masks.causal tells the form of its contract"):
        follows_contract(CAUSAL, findings, reference, LocalSubject.from_source(OWN))


def test_cases_of_every_symbol_are_asked_again():
    two = replace(CAUSAL, symbols=("causal_mask", "other_mask"), references=CAUSAL.references * 2)
    reference = LocalSubject.from_source(COURSE + "other_mask = causal_mask\n")
    cases = [Case(name, (3,)) for name in two.symbols for _ in range(2 * contract.MOST)]
    value = reference.call("causal_mask", 3)
    answers = tuple(Answer(Probe(case.value, case), value, value, None) for case in cases)
    findings = [Finding(Check("values", lambda *_: [], core=True), answers)]
    assert follows_contract(two, findings, reference, LocalSubject.from_source(OWN + "other_mask = causal_mask\n"))
    course = "def other_mask(length):\n    return ~causal_mask(length)\n"
    assert not follows_contract(two, findings, reference, LocalSubject.from_source(OWN + course))


def test_a_form_that_cannot_be_asked_costs_only_what_the_distance_would_give(monkeypatch):
    def broken(*_):
        raise RuntimeError("no box")

    monkeypatch.setattr(Grader, "_follows_contract", broken)
    found = grade_source(CAUSAL, OWN.replace("tril()", "tril(-1)"), backend=choose(), device="cpu")
    assert (found.status, found.distance, found.misconception) == ("failed", None, "own_position_hidden")


def test_a_mistake_is_near_to_a_right_answer_only_in_the_contracts_form():
    own, course = OWN.replace("tril()", "tril(-1)"), COURSE + SKIPS
    found = grade_source(CAUSAL, own, backend=choose(), device="cpu")
    assert (found.score, found.misconception) == (0.7, "own_position_hidden")
    found = grade_source(CAUSAL, course.replace("tril()", "tril(-1)"), backend=choose(), device="cpu")
    assert (found.score, found.distance) == (0.0, None)


@pytest.mark.parametrize("beside", ["", contracts.adapter(CAUSAL)], ids=["alone", "with a copy of the adapter"])
def test_an_answer_to_another_contract_is_no_slip(beside):
    """What was handed in under that one, too, is told the mistake, and keeps only what its checks earn."""
    found = grade_source(CAUSAL, COURSE + beside, backend=choose(), device="cpu")
    assert (found.score, found.distance, found.misconception) == (0.0, None, "marks_what_is_hidden")


def test_values_are_changed_outside_and_objects_of_any_kind_are_asked():
    heads = registry.find("attention.multi_head@hidden")
    right = answers(heads, "right")[0]
    asked = ContractSubject(LocalSubject.from_source(contracts.without_adapter(right.read_text()), right.name), heads)
    made = asked.build_loaded("MultiHeadAttention", (8, 2), None)
    x, mask = torch.randn(1, 3, 8), torch.ones(1, 1, 3, 3, dtype=torch.bool).tril()
    course = reference_of(heads).build_loaded("MultiHeadAttention", (8, 2), None)
    course.load(made.handle.module.state_dict())
    for given, wanted in zip(made(x, x, x, mask), course(x, x, x, mask), strict=True):
        assert torch.allclose(given, wanted, atol=1e-6)


def test_a_value_without_another_form_is_refused_or_left_as_it_is():
    subject = LocalSubject.from_source(COURSE.replace("dtype=torch.bool", ""))
    with pytest.raises(StudentError, match="TypeError"):
        ContractSubject(subject, CAUSAL).call("causal_mask", 2)
    left = ContractSubject(subject, CAUSAL, strict=False).call("causal_mask", 2)
    assert torch.equal(left, torch.ones(2, 2).tril())
