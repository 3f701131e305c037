"""A mutation in a right answer is found where it gives the answers, also in the midst of a layer and in a loop."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

import pytest

from autograder.checks.local import LocalSubject
from autograder.checks.operators import changes
from autograder.checks.probe import collect_answers
from autograder.checks.reference import reference_of
from autograder.corpus.judge import ask_reference
from autograder.diagnosis import mutations
from autograder.diagnosis.evidence import Replies
from autograder.diagnosis.programs import Program, Values
from autograder.diagnosis.rewrites import REWRITES, rename_variables
from autograder.exercises import registry

question_sets = lru_cache(maxsize=4)(ask_reference)
SWIGLU = """
import torch.nn.functional as F
from torch import nn
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate, self.up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.down = nn.Linear(d_ff, d_model, bias=False)
    def forward(self, x):
        return self.down(ACTIVATION(self.gate(x)) * self.up(x))
"""
RNN = """
import torch
def rnn_encode(x, w_x, w_h, b):
    h, states = x.new_zeros(x.size(0), w_h.size(0)), []
    for t in range(x.size(1)):
        BODY
    return torch.stack(states, 1)
"""
STEP = "h = torch.tanh(x[:, t] @ w_x + h @ w_h + b)"
CASES = [
    ("modern.swiglu", SWIGLU.replace("ACTIVATION", "F.relu"), mutations.OPERATOR_SENTENCES["change_activation"]),
    ("modern.swiglu", SWIGLU.replace("ACTIVATION", "(lambda z: F.layer_norm(F.silu(z), z.shape[-1:]))"), "normalised"),
    ("rnn.encode", RNN.replace("BODY", f"states.append(h); {STEP}"), mutations.OPERATOR_SENTENCES["exchange_lines"]),
    (
        "rnn.encode",
        RNN.replace("BODY", f"t = -1 - t; {STEP}; states.append(h)"),
        mutations.OPERATOR_SENTENCES["reverse_loop"],
    ),
]


def answered(exercise_id: str, source: str, seed: int = 5) -> Replies:
    """The answers to ordinary questions of the code in `source`."""
    exercise, namespace = registry.find(exercise_id), {}
    exec(source, namespace)
    findings = collect_answers(question_sets(exercise, seed), LocalSubject(namespace))
    replies = [reply for finding in findings if finding.check.core for reply in finding.answers]
    wrong, right = ([one for one in replies if (one.difference is not None) is kind] for kind in (True, False))
    return Replies(wrong, right, reference_of(exercise))


def found(exercise_id: str, source: str, more: Callable[[], Replies | None] | None = None) -> str | None:
    replies = answered(exercise_id, source)
    return mutations.explain_by_mutation(replies.wrong, registry.find(exercise_id), replies.right, more)


@pytest.mark.parametrize(("exercise_id", "source", "words"), CASES, ids=[words[:30] for *_, words in CASES])
def test_a_slip_is_found(exercise_id, source, words):
    assert words in (found(exercise_id, source) or "nothing")


def test_intermediate_values_are_changed_even_if_the_mutants_used_up_their_share(monkeypatch):
    monkeypatch.setattr(mutations, "MAX_UNITS", 1)
    exercise_id, source, words = CASES[1]
    assert words in (found(exercise_id, source) or "nothing")


def test_a_slip_is_said_only_if_fresh_answers_show_it_too():
    relu, gelu = (SWIGLU.replace("ACTIVATION", name) for name in ("F.relu", "F.gelu"))
    said = found("modern.swiglu", relu, lambda: answered("modern.swiglu", relu, 6))
    assert said is not None and mutations.OPERATOR_SENTENCES["change_activation"] in said
    assert found("modern.swiglu", relu, lambda: answered("modern.swiglu", gelu, 6)) is None
    assert found("modern.swiglu", relu, lambda: None) is None


def test_a_mutant_that_never_ends_is_passed_over():
    def holds(mutant: str) -> bool:
        while mutant == "endless":
            pass
        return mutant == "right"

    assert mutations.first_matching(iter(["endless", "wrong", "right"]), holds, 0.05) == "right"
    assert mutations.first_matching(iter(["endless", "endless", "right"]), holds, 0.05) is None


def test_a_search_goes_on_behind_what_it_found():
    mutants = iter(range(9))
    assert [mutations.first_matching(mutants, lambda one: one % 3 == 2, 1.0) for _ in range(4)] == [2, 5, 8, None]


def test_of_one_answer_alone_no_slip_is_said():
    exercise = registry.find("rnn.encode")
    assert mutations.explain_by_mutation([], exercise) is None


def rewritten(source: str) -> set[str]:
    tree, made = ast.parse(source), set()
    for change in [*changes(tree, REWRITES), *rename_variables(tree)]:
        change.make()
        made.add(ast.unparse(ast.fix_missing_locations(tree)).splitlines()[-1].strip())
        change.undo()
    assert ast.unparse(tree) == ast.unparse(ast.parse(source))
    return made


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("return self.norm(x + self.f(x))", "return x + self.norm(self.f(x))"),
        ("return x + self.f(self.norm(x))", "return x + self.norm(self.f(x))"),
        ("return self.norm(x + self.f(y))", "return self.norm(y + self.f(y))"),
        ("return F.silu(x)", "return F.relu(x)"),
        ("return x[:, 1:]", "return x[:, 1 + 1:]"),
        ("return x[:, 1:]", "return x[:, 1:-1]"),
        ("return x.mean(-1)", "return x.sum(-1)"),
        ("return list(range(0, x, 3))", "return list(range(0, x + 1 - 3, 3))"),
        ("return x.split(3, dim=1)", "return [block for block in x.split(3, dim=1) if block.size(1) == 3]"),
        ("return (x * y).sum() / y.sum()", "return ((x * y).sum(-1) / y.sum(-1)).mean()"),
        ("return x.sum() / y.sum().clamp(min=1)", "return (x.sum(-1) / y.sum(-1).clamp(min=1)).mean()"),
    ],
)
def test_rewrites_offer_what_students_mix_up(line, other):
    assert other in rewritten(f"def f(self, x, y):\n    {line}\n")


def test_a_value_on_the_way_can_be_replaced():
    values = Values(Program("import torch\ndef f(x):\n    y = x + 1\n    return y * 2\n", ("f",)))
    assert values.made["f"](1) == 4
    results = set()
    for number in values.places():
        values.active, values.edit = number, lambda value: value * 10
        results.add(values.made["f"](1))
    assert results == {22, 40}  # x and the sum; y is the sum once more
