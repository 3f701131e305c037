"""Other contracts: rewritten answers keep their shape, and the adapter undoes what the contract changes."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
import torch

from autograder.api import Contract, Exercise, FormChange
from autograder.checks.local import LocalSubject
from autograder.exercises import contracts, registry
from autograder.exercises.answers import KINDS, EditedAnswer, answers
from autograder.exercises.contracts import INVERTED, SWAPPED

ALL = [
    contracts.full_id(contracts.with_contract(one, its.name)) for one in registry.exercises() for its in one.contracts
]
EXERCISE = Exercise(
    id="masks.softmax", unit="02-masks", title="", symbols=("scaled_dot_product_attention",),
    references=("tfkit.nn.attention:scaled_dot_product_attention",), checks="",
    contract=Contract("own", "", SWAPPED, (("mask", INVERTED),)),
)  # fmt: skip


def test_every_unit_with_code_from_the_course_has_one():
    units = {registry.find(name).unit[:2] for name in ALL}
    assert units >= {f"{number:02}" for number in range(1, 17)}


def test_the_changes_stand_inside_the_function():
    text = "def scaled_dot_product_attention(a, b, c, m=None):\n    '''Doc.'''\n    x = f(a)\n    return x @ c, x\n"
    assert contracts.rewrite(EXERCISE, text) == (
        "def scaled_dot_product_attention(a, b, c, m=None):\n    '''Doc.'''\n    if m is not None:\n        m = ~m\n"
        "    x = f(a)\n    return x, x @ c\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "scaled_dot_product_attention = lambda q, k, v, mask=None: (q, mask)\n",
        "def scaled_dot_product_attention(q, k, v, mask=None): return q, mask\n",
        "def scaled_dot_product_attention(*args):\n    return args[0], args[3]\n",
    ],
)
def test_what_cannot_be_changed_inside_is_wrapped(text):
    names: dict = {}
    exec(contracts.rewrite(EXERCISE, text), names)
    mask, query = torch.tensor([True, False]), torch.ones(2)
    given, same = names["scaled_dot_product_attention"](query, query, query, mask)
    assert torch.equal(given, ~mask) and same is query


def test_a_function_that_calls_itself_still_does():
    exercise = replace(EXERCISE, symbols=("f",), contract=Contract("own", "", FormChange("-{x}", "-{x}")))
    names: dict = {}
    exec(contracts.rewrite(exercise, "def f(q, k, v, mask=None):\n    return q and 1 + f(q - 1, k, v)\n"), names)
    assert names["f"](3, 0, 0) == -3


def test_the_adapter_undoes_the_contract_once():
    names: dict = {}
    text = "def scaled_dot_product_attention(q, k, v, mask=None):\n    return mask, q\n"
    exec(contracts.adapter(EXERCISE), names := {"scaled_dot_product_attention": None} | _defined(text))
    exec(contracts.adapter(EXERCISE), names)
    query, mask = names["scaled_dot_product_attention"](torch.ones(1), None, None, torch.tensor([True]))
    assert query == 1 and not mask


def _defined(text: str) -> dict:
    names: dict = {}
    exec(text, names)
    return names


def test_a_result_of_another_type_is_compared_as_it_is():
    exercise = contracts.with_contract(registry.find("masks.causal"), "hidden")
    names = _defined(f"def causal_mask(length):\n    return 0.5\n\n\n{contracts.adapter(exercise)}")
    assert names["causal_mask"](2) == 0.5


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", ALL)
def test_each_collected_answer_has_a_form_under_the_contract(name):
    exercise = registry.find(name)
    for kind in KINDS:
        course = answers(contracts.with_contract(exercise, ""), kind)
        own = answers(exercise, kind)
        assert [one.stem for one in own] == [one.stem for one in course]
        for one, before in zip(own, course, strict=True):
            ast.parse(one.read_text())
            assert one.read_text().endswith(contracts.adapter(exercise))
            unchanged = dict(exercise.contract.results_of).get(one.stem) == "{x}"
            assert (contracts.without_adapter(one.read_text()) == before.read_text()) is unchanged
            if isinstance(one, EditedAnswer):
                assert one.replacements and one.sentence == before.sentence


def test_a_check_cell_names_the_contract():
    exercise = registry.find("masks.causal")
    assert contracts.as_checked(exercise, 'check("masks.causal@hidden")').contract == exercise.contracts[0]
    assert contracts.as_checked(exercise, 'check("masks.causal")').contract is None
    assert contracts.as_checked(exercise, 'check("masks.causal@no_longer")').contract is None
    assert contracts.as_checked(exercise, 'check("masks.padding@hidden")').contract is None


def test_an_unknown_contract_is_told_with_those_that_there_are():
    with pytest.raises(registry.UnknownExercise, match="masks.causal has no contract called 'shown'; it has: hidden"):
        registry.find("masks.causal@shown")
    with pytest.raises(registry.UnknownExercise, match="only the course's own"):
        registry.find("rnn.cell@hidden")


def test_groups_draw_all_contracts_and_the_courses_own():
    exercise = registry.find("masks.causal")
    drawn = [contracts.draw_contract(exercise, f"group {number}") for number in range(100)]
    assert set(drawn) == {"", "hidden"} and 30 < drawn.count("hidden") < 70
    assert drawn == [contracts.draw_contract(exercise, f"group {number}") for number in range(100)]


def test_a_rewritten_answer_answers_the_courses_questions():
    exercise = registry.find("masks.causal@hidden")
    right = answers(exercise, "right")[0]
    value = LocalSubject.from_source(right.read_text(), right.name).call("causal_mask", 3)
    assert torch.equal(value, torch.ones(3, 3, dtype=torch.bool).tril())
    alone = LocalSubject.from_source(contracts.without_adapter(right.read_text()), right.name).call("causal_mask", 3)
    assert torch.equal(alone, ~value)
