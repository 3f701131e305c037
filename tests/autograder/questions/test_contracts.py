"""Questions about an answer under a contract: all of it is in the student's own form, calls, results and keys."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.compare import compare
from autograder.checks.contract import ContractSubject, SubjectInOwnForm, case_in_own_form
from autograder.checks.reference import reference_of
from autograder.exercises import contracts, registry
from autograder.questions import graded, inputs, make, record
from autograder.questions.elsewhere import names_from_elsewhere
from autograder.questions.make import questions
from autograder.questions.notebook import answer_questions, questions_answered
from autograder.questions.prove import prove, samples
from autograder.questions.question import fingerprint
from autograder.questions.runs import StudentCode, code_of

from .conftest import ATTEND
from .test_graded import MASK, notebook_of, told

HIDDEN = registry.find("attention.attend@hidden")
OWN = ATTEND.replace("~mask", "mask").replace("return context, weights", "return weights, context")
CAUSAL, DECODER = registry.find("masks.causal@hidden"), registry.find("masks.decoder@hidden")
CAUSAL_OWN = MASK.format(name="causal_mask").replace("<=", ">")
EVERY = [
    contracts.full_id(contracts.with_contract(one, its.name)) for one in registry.exercises() for its in one.contracts
]


@pytest.fixture(scope="module")
def asked(backend):
    return questions(StudentCode(HIDDEN, OWN), backend, seed=0, count=6)


def test_values_and_arguments_are_those_of_the_students_form(asked):
    assert len(asked) >= 3
    for one in asked:
        given = {line.split(" = ")[0]: eval(line.split(" = ", 1)[1], {"tensor": torch.tensor})
                 for line in one.shown.inputs}  # fmt: skip
        space: dict = {}
        exec(OWN, space)
        weights, context = space["attend"](given["query"].float(), given["keys"].float(), given["mask"])
        assert weights.shape == given["mask"].shape and not bool(weights[given["mask"]].any())
        if one.topic == "variant":
            shown = f"`{inputs.value_text((weights, context))}`"
            assert shown in one.options and one.options[one.key] != shown


def test_code_in_the_courses_form_has_no_questions_under_the_contract_nor_the_other_way(backend):
    assert questions(StudentCode(HIDDEN, ATTEND), backend) == []
    assert questions(StudentCode(registry.find("attention.attend"), OWN), backend) == []


def test_every_key_is_found_in_a_third_way(backend):
    (sample,) = samples(["masks.softmax@hidden"], 1)
    assert contracts.HEAD not in sample.text
    proof = prove(sample, backend)
    assert len(proof.topics) >= 3 and not proof.wrong and not proof.given_away


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", EVERY)
def test_the_reference_in_the_form_of_a_contract_gives_there_and_back_what_it_gave(name):
    exercise = registry.find(name)
    reference, compared = reference_of(exercise), 0
    back = ContractSubject(SubjectInOwnForm(reference, exercise), exercise)
    own, usual = (inputs.cases(one, "0") for one in (exercise, contracts.with_contract(exercise, "")))
    for case in usual:
        if case_in_own_form(exercise, case) is not None and case.method is None:
            compared += 1
            assert compare(case.value(reference), case.value(back), case.tolerance) is None
    assert own and compared


def test_the_cell_that_turns_an_answer_is_not_asked_about_and_hides_nothing(backend):
    """A kernel's history has that cell, too, without any mark."""
    notebook = notebook_of(CAUSAL_OWN, contracts.adapter(CAUSAL), "import torch")
    assert code_of(CAUSAL, notebook).text == CAUSAL_OWN
    text = "def decoder_mask(ids, pad):\n    return ~causal_mask(len(ids[0])) | (ids == pad)[:, None, :]\n"
    cells = notebook_of(CAUSAL_OWN, contracts.adapter(CAUSAL), text)
    cells["cells"][0]["metadata"] = {"tfkit": {"role": "exercise", "exercise": "masks.causal"}}
    assert names_from_elsewhere(DECODER, text, graded._written(DECODER, cells)) == []
    assert graded._written(DECODER, notebook_of(text + "x = 1")) != []


def test_answers_about_code_under_a_contract_count(backend, tmp_path, monkeypatch, capsys):
    notebook = notebook_of(CAUSAL_OWN, contracts.adapter(CAUSAL))
    code = code_of(CAUSAL, notebook)
    made = [one.as_json() for one in make.questions(code, backend)]
    found = {"exercise": "masks.causal@hidden", "title": "", "seed": 0, "code": code.text, "questions": made}
    answer_questions(found, tuple(one["value"] for one in told(made)), tmp_path)
    kept = record.read(tmp_path)
    assert set(kept) == {"masks.causal"}
    assert [one["of"] for one in kept["masks.causal"][0]["asked"]] == list(map(fingerprint, made))
    judged = graded.judge(CAUSAL, notebook, kept["masks.causal"], backend, graded.submission_budget())
    assert judged[:2] == (3, 3) and not judged.undecided
    usual = graded.judge(registry.find("masks.causal"), notebook, kept["masks.causal"], backend,
                         graded.submission_budget())  # fmt: skip
    assert usual[:2] == (0, 1)
    monkeypatch.chdir(tmp_path)
    questions_answered("masks.causal", "masks.padding")
    assert "1 of 2" in capsys.readouterr().out
