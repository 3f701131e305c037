"""Questions about an answer: their keys are what the code does, in three ways, and none stands in the code."""

import random

import pytest
import torch

from autograder.checks.compare import RaisedError
from autograder.questions import dependence, expressions, inputs, runs, variants
from autograder.questions.make import questions
from autograder.questions.prove import KnownAnswer, is_given_away, prove
from autograder.questions.runs import CodeRunner, StudentCode
from autograder.sandbox.client import SandboxClient

from .conftest import ATTEND


def tensors(question) -> dict[str, torch.Tensor]:
    """The inputs as a reader would copy them from the question."""
    return {line.split(" = ")[0]: eval(line.split(" = ", 1)[1], {"tensor": torch.tensor}) for line in
            question.shown.inputs}  # fmt: skip


def attended(given: dict[str, torch.Tensor], source: str = ATTEND):
    """What the code gives, run by the test itself."""
    space: dict = {}
    exec(source, space)
    return space["attend"](given["query"].float(), given["keys"].float(), given["mask"])


def test_there_are_questions_of_several_kinds(made):
    assert len(made) == 6 and len({one.id for one in made}) == 6
    assert {"set", "choice"} < {one.kind for one in made}


def test_each_key_is_found_in_a_third_way(made, code, backend):
    with CodeRunner(code, backend) as run:
        assert {one.id: one.find_again(run) for one in made} == {one.id: one.key for one in made}


def test_no_answer_stands_in_the_line_that_is_asked_about(made):
    assert not [one.id for one in made if is_given_away(one, ATTEND)]


def test_the_rows_that_change_are_those_of_the_code(made):
    asked = [one for one in made if one.kind == "set"]
    assert asked
    for one in asked:
        given = tensors(one)
        before = attended(given)[0]
        other = given[one.parts["what"]].clone()
        other.select(one.parts["axis"], one.parts["row"]).add_(1)
        after = attended(given | {one.parts["what"]: other})[0]
        assert (before != after).any(dim=1).nonzero().flatten().tolist() == one.key


def test_the_choice_is_what_the_changed_line_gives(made):
    asked = [one for one in made if one.topic == "variant"]
    assert asked
    for one in asked:
        lines = ATTEND.splitlines()
        lines[one.line - 1] = "    " + one.parts["what"]
        value = attended(tensors(one), "\n".join(lines))
        assert one.options[one.key] == f"`{inputs.value_text(value)}`"
        assert len(set(one.options)) == len(one.options) >= variants.LEAST


def test_wrong_code_and_code_that_does_not_run_have_no_questions(code, backend):
    for text in (ATTEND.replace("~mask", "mask"), "def attend(:", "raise SystemExit"):
        assert questions(StudentCode(code.exercise, text), backend) == []


def test_a_shape_that_can_be_read_is_not_asked(backend):
    call = inputs.ExampleCall(None, ("x",), None)  # type: ignore[arg-type]
    object.__setattr__(call, "case", type("C", (), {"args": (torch.ones(2, 3),), "kwargs": {}})())
    assert expressions._reads_shape("y = torch.zeros(2, 5)", (2, 5), call)
    assert expressions._reads_shape("y = x * 2", (2, 3), call)
    assert not expressions._reads_shape("y = f(z)", (2, 3), call)


def test_a_key_that_differs_in_the_second_way_is_not_asked(code, backend, monkeypatch):
    real = expressions.noted_values

    def otherwise(run, text, case, begin="_q_begin"):
        seen = real(run, text, case, begin)
        return seen and expressions.ExpressionValues(tuple((*shape, 1) for shape in seen.shapes), seen.first + 1)

    monkeypatch.setattr(expressions, "noted_values", otherwise)
    monkeypatch.setattr(dependence, "dependent_rows_by_gradient", lambda *_: torch.zeros(2, dtype=torch.bool))
    found = questions(code, backend)
    assert {one.topic for one in found} == {"variant"}


def test_a_proof_tells_a_wrong_key(code, backend, monkeypatch):
    monkeypatch.setattr(expressions, "noted_values", lambda run, *_: expressions.ExpressionValues(((9, 9),), None))
    monkeypatch.setattr(expressions, "recorded_values", lambda *_: expressions.ExpressionValues(((9, 9),), None))
    monkeypatch.setattr(expressions, "_key_again", lambda *_: lambda run: [2, 4])
    proof = prove(KnownAnswer(code.exercise, "mine", ATTEND), backend)
    assert any(told.startswith("shape/") and "[9, 9] and [2, 4]" in told for told in proof.wrong)
    assert "wrong: " in proof.line()


def test_the_line_that_hides_what_is_masked_is_asked_for(backend, code):
    text = (
        "import torch\n\n\ndef attend(query, keys, mask):\n"
        "    scores = (keys @ query.unsqueeze(-1)).squeeze(-1).contiguous()\n"
        "    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)\n"
        "    weights = weights * mask.any(dim=-1, keepdim=True)\n"
        "    context = (weights.unsqueeze(1) @ keys).squeeze(1).contiguous()\n"
        "    return context, weights\n"
    )
    with CodeRunner(StudentCode(code.exercise, text), backend) as run:
        case = next(
            filter(None, (inputs.usable(code.exercise, one, run, text) for one in inputs.cases(code.exercise, "0")))
        )
        call, rng = inputs.call_of(code.exercise, case), random.Random(0)
        among = variants.steps(text, range(5, 9), rng)
        (asked, *_) = dependence.lines(run, call, among, rng)
    assert "line 6: " in asked.options[asked.key] and asked.parts["what"] == "keys"
    assert not case.args[2][asked.parts["other"], asked.parts["row"]]  # what is asked about is masked
    assert (asked.key_line, asked.line) == (6, 1)  # the line that the question points at does not tell it


def test_how_often_a_line_is_run_is_asked_of_one_that_python_begins_once(backend, code):
    text = (
        "import torch\n\n\ndef attend(query, keys, mask):\n    contexts, rows = [], []\n"
        "    for q, k, m in zip(query, keys, mask):\n"
        "        scores = torch.where(\n            m, k @ q, torch.tensor(-1e9),\n        )\n"
        "        weights = torch.softmax(scores, dim=-1) * m\n"
        "        rows.append(weights)\n        contexts.append(weights @ k)\n"
        "    return torch.stack(contexts), torch.stack(rows)\n"
    )
    with CodeRunner(StudentCode(code.exercise, text), backend) as run:
        case = next(inputs.usable(code.exercise, one, run, text) for one in inputs.cases(code.exercise, "0"))
        call = inputs.call_of(code.exercise, case)
        asked = list(expressions.times(run.trace(text, case)[0], run, call))
        assert [one.line for one in asked] == [10]  # Python begins line 7 twice each time: before and after line 8
        assert asked[0].find_again(run) == asked[0].key == len(case.args[0])


def test_how_many_questions_are_made_hangs_on_counts_and_not_on_the_clock(code, backend, made, monkeypatch):
    """A slow machine, on which each call takes seconds by the clock, makes the same questions."""
    whole = runs.CallBudget()
    first = questions(code, backend, seed=0, count=6, budget=whole)
    assert [one.id for one in first] == [one.id for one in made] and 0 < whole.calls < runs.CALLS
    used = runs.CALLS - whole.calls
    few = [questions(code, backend, seed=0, count=6, budget=runs.CallBudget(calls=used // 2)) for _ in range(2)]
    assert few[0] == few[1] and len(few[0]) < len(first)


def test_code_that_ends_its_boxes_or_takes_long_is_given_up(code, backend, monkeypatch):
    starts = []
    real = SandboxClient.__enter__
    monkeypatch.setattr(SandboxClient, "__enter__", lambda self: starts.append(1) or real(self))
    ends = "import os\n\n\ndef attend(query, keys, mask):\n    os._exit(1)\n"
    assert questions(StudentCode(code.exercise, ends), backend) == [] and len(starts) == runs.ENDED
    monkeypatch.setattr(runs, "GUARD_S", 0.0)
    with pytest.raises(runs.OutOfTime):
        questions(code, backend)
    assert len(starts) == runs.ENDED


def test_a_variable_that_a_line_assigns_is_asked_about_after_it(code, backend):
    asked = [one for one in questions(code, backend, 1, 9) if one.topic in ("shape", "value", "truths")]
    assert asked
    for one in asked:
        named = code.text.splitlines()[one.line - 1].strip().startswith(f"{one.parts['what']} =")
        assert (f"after line {one.line}" in one.prompt) == named


def test_code_that_stops_when_it_is_recorded_has_no_third_key(code, backend, made):
    asked = next(one for one in made if one.topic == "variant")
    with CodeRunner(code, backend) as run:
        run.trace = lambda *_: (None, RaisedError("exception", "stops"))
        assert asked.find_again(run) is None


def test_what_a_box_tells_of_lines_is_numbers_or_nothing(code, backend):
    """The answer replaces what runs beside it in its box."""
    lie = ATTEND.replace(
        "    scores = ", "    globals()['_q_end'] = lambda: [[], [[float('inf'), 1]]]\n    scores = ", 1
    )
    with CodeRunner(code, backend) as run:
        (case, *_) = inputs.cases(code.exercise, "0")
        assert run.notes(ATTEND, case, "_q_watch") is not None
        assert run.notes(lie, case, "_q_watch") is None
