"""Whole verdicts through the real box."""

import json
import subprocess
import sys
from functools import cache

import pytest

from autograder.api import Limits
from autograder.cli import main
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade import run
from autograder.grade.verdict import NOTHING_FITS, WITHHELD
from autograder.sandbox import choose

ATTEND = registry.find("attention.attend")
SPLIT = registry.find("attention.split_heads")
HEADS = registry.find("attention.multi_head")
SPANS = registry.find("objectives.span_corruption")
NOISE = registry.find("objectives.denoise")
THOROUGH = registry.find("rag.thorough")
DOUBLED_HEADS = """
import torch
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1) * 2.5 + 1
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)
"""


def text(exercise, kind, name):
    return next(path for path in answers(exercise, kind) if path.stem == name).read_text()


def cell(source, exercise):
    name = exercise.replace(".", "-")
    return {
        "cell_type": "code",
        "id": f"solution-{name}",
        "metadata": {"tfkit": {"role": "exercise", "exercise": exercise}},
        "source": source,
    }


def test_right_and_wrong():
    right = run.grade_source(ATTEND, text(ATTEND, "right", "einsum"), backend=choose())
    assert (right.status, right.score) == ("passed", ATTEND.points)
    wrong = run.grade_source(ATTEND, text(ATTEND, "wrong", "mask_inverted"), backend=choose())
    assert (wrong.status, wrong.score, wrong.misconception) == ("failed", 1.4, "mask_inverted")
    assert wrong.counterexample["inputs"].keys() == {"query", "keys", "mask"}


def test_a_list_of_functions_as_an_argument():
    """They cannot be kept in the box between calls, and a counter-example describes each."""
    right = run.grade_source(THOROUGH, text(THOROUGH, "right", "textbook"), backend=choose())
    assert (right.status, right.score) == ("passed", THOROUGH.points)
    wrong = run.grade_source(THOROUGH, text(THOROUGH, "wrong", "adds_logits"), backend=choose())
    assert wrong.misconception == "adds_logits" and json.dumps(wrong.as_json())
    readers = wrong.counterexample["inputs"]["readers"]
    assert readers and all(one.startswith("a fixed random model over") for one in readers)


def test_an_optimizer_that_ran_before_is_no_trace_of_the_function():
    """The first step of any optimizer has torch wrap its own `torch.manual_seed`; who replaces it is still seen."""
    step = "import torch\np = torch.nn.Parameter(torch.ones(2))\np.grad = torch.ones(2)\ntorch.optim.Adam([p]).step()\n"
    right = text(ATTEND, "right", "einsum")
    assert run.grade_source(ATTEND, step + right, backend=choose()).status == "passed"
    verdict = run.grade_source(ATTEND, f"{right}\ntorch.manual_seed = lambda seed: None\n", backend=choose())
    assert [check.name for check in verdict.checks if check.status == "failed"] == ["no side effects"]


def test_what_fits_nothing_is_told_so():
    source = "def attend(query, keys, mask):\n    return keys.mean(1) + query, mask * 0.25"
    verdict = run.grade_source(ATTEND, source, backend=choose())
    assert verdict.misconception is None and verdict.hint.endswith(("one of the known mistakes.", NOTHING_FITS))
    assert verdict.counterexample["first_wrong_entry"] == [0, 0]


def test_the_first_layer_that_goes_wrong_is_told():
    verdict = run.grade_source(HEADS, text(HEADS, "wrong", "values_from_the_keys"), backend=choose())
    assert verdict.counterexample["first_wrong_step"].startswith("the inputs of `v_proj` are wrong")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1", "no function `attend` is defined"),
        ("def attend(:\n  pass", "syntax error in line 1"),
        ("from tfkit.nn import causal_mask", "ModuleNotFoundError"),
        ("import os; os._exit(0)", ""),
        ("x = " + "-" * 100_000 + "1", "its cell has a syntax error (too deeply nested)"),
        ("x = 1\0", "its cell has a syntax error ("),
    ],
)
def test_what_cannot_be_examined_fails_with_its_reason(source, said):
    verdict = run.grade_source(ATTEND, source, backend=choose())
    assert (verdict.status, verdict.score) == ("failed", 0.0)
    assert verdict.reason and said in verdict.reason


def test_a_mistake_costs_its_own_exercise_only(monkeypatch):
    explained = []  # an attempt that does not count is not explained: that takes longer than grading it
    monkeypatch.setattr(run, "shrink_counterexample", lambda findings, *_: explained.append(findings) or findings)
    wrong_split = text(SPLIT, "wrong", "reshaped_without_transpose")
    heads = text(HEADS, "right", "on_earlier_exercises")
    notebook = {"cells": [cell(wrong_split, SPLIT.id), cell(heads, HEADS.id)]}
    first, second = run.grade_notebook(notebook, [SPLIT, HEADS], backend=choose())
    assert first.status == "failed" and first.misconception == "reshaped_without_transpose"
    assert (second.status, second.score) == ("passed", HEADS.points)
    assert len(explained) == 1


USES_EARLIER = """
from torch import nn
from tfkit.nn import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.o_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        q = split_heads(self.q_proj(query), self.n_heads)
        k, v = split_heads(self.k_proj(key), self.n_heads), split_heads(self.v_proj(value), self.n_heads)
        heads, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(heads)), weights
"""
KEYS_AS_VALUES = USES_EARLIER.replace("self.v_proj(value)", "self.v_proj(key)")


def graded(split, heads):
    """The verdict on multi-head attention in a notebook with these two answers."""
    notebook = {"cells": [cell(split, SPLIT.id), cell(heads, HEADS.id)]}
    return run.grade_notebook(notebook, [HEADS], backend=choose())[0]


def test_an_answer_on_wrong_earlier_ones_is_judged_by_itself():
    wrong_split = text(SPLIT, "wrong", "reshaped_without_transpose")
    verdict = graded(wrong_split, USES_EARLIER)
    assert (verdict.status, verdict.score) == ("passed", HEADS.points)
    verdict = graded(wrong_split, KEYS_AS_VALUES)
    assert (verdict.status, verdict.misconception) == ("failed", "values_from_the_keys")
    assert verdict.counterexample is None and verdict.departure["value"] is None and not verdict.departure["steps"]
    assert {check.message for check in verdict.checks if check.status == "failed"} == {WITHHELD}
    assert verdict.departure["text"] in KEYS_AS_VALUES


def test_an_answer_on_right_earlier_ones_is_explained_in_full():
    verdict = graded(text(SPLIT, "right", "permute"), KEYS_AS_VALUES)
    assert (verdict.status, verdict.misconception) == ("failed", "values_from_the_keys")
    assert verdict.counterexample and verdict.departure["value"]
    assert WITHHELD not in {check.message for check in verdict.checks}


CELL = """
def rnn_cell(x, h, w_x, w_h, b):
    return (x @ w_x + h @ w_h + b).tanh()
"""
EXCHANGED = """
import torch
def rnn_encode(x, w_x, w_h, b):
    h, states = x.new_zeros(x.size(0), w_h.size(0)), []
    for t in range(x.size(1)):
        h = rnn_cell(x[:, t], h, w_h, w_x, b)
        states.append(h)
    return torch.stack(states, 1)
"""


def test_exchanged_arguments_are_the_fault_of_the_call_where_the_earlier_code_is_right():
    earlier = [CELL, CELL.replace("+ b", "- b")]  # with both wrong, no exchange of one value makes the answer right
    notebooks = [{"cells": [cell(one, "rnn.cell"), cell(EXCHANGED, "rnn.encode")]} for one in earlier]
    exercises = [registry.find("rnn.encode")]
    right, wrong = (run.grade_notebook(one, exercises, backend=choose(), seed=5)[0] for one in notebooks)
    assert right.departure["text"] == "h = rnn_cell(x[:, t], h, w_h, w_x, b)"
    told = "what this call of `rnn_cell` passes is wrong: with right code in the other cell"
    assert told in right.departure["sentence"]
    assert wrong.status == "failed" and wrong.line == 6  # what it should hold is known, not which value is wrong there
    assert "a change of this line alone" in wrong.departure["sentence"] and not wrong.departure["steps"]


def test_of_cost_alone_no_value_and_no_line_is_told():
    """The values are right: no example shows a wrong one, and no line computes one."""
    cache = registry.find("decoding.kv_cache")
    verdict = run.grade_source(cache, text(cache, "wrong", "whole_past_read_again"), backend=choose(), seed=5)
    failed = [(check.name, check.property) for check in verdict.checks if check.status == "failed"]
    assert failed == [("cost", "cost")] and verdict.misconception == "whole_past_read_again"
    assert 0 < verdict.score < cache.points
    assert verdict.counterexample is None and verdict.departure is None and verdict.line is None


def test_a_list_that_is_written_into_is_a_trace():
    verdict = run.grade_source(SPANS, text(SPANS, "wrong", "text_overwritten"), backend=choose())
    assert [check.name for check in verdict.checks if check.status == "failed"] == ["no side effects"]
    assert verdict.misconception == "text_overwritten" and "argument `tokens`" in verdict.checks[-1].message


def test_of_four_functions_each_earns_its_share():
    verdict = run.grade_source(NOISE, text(NOISE, "wrong", "rotated_the_other_way"), backend=choose())
    assert (verdict.score, verdict.misconception) == (0.75 * NOISE.points, "rotated_the_other_way")
    assert [check.name for check in verdict.checks if check.status == "failed"] == ["rotate"]


def test_our_own_crash_is_not_graded(monkeypatch):
    monkeypatch.setattr(registry, "check_function", lambda exercise: lambda: 1 / 0)
    verdict = run.grade_source(ATTEND, "x = 1", backend=choose())
    assert verdict.status == "not_graded" and "ZeroDivisionError" in verdict.reason


@pytest.mark.parametrize("returned", ["step", "d_model + step * warmup"])
def test_complex_numbers_on_the_way_to_an_explanation_lose_no_verdict(returned):
    """A negative step has a complex square root in some of the transformations that are tried."""
    source = f"def noam_rate(step, d_model, warmup):\n    return {returned}\n"
    verdict = run.grade_source(registry.find("training.noam"), source, backend=choose())
    assert (verdict.status, verdict.reason) == ("failed", "")


@cache
def score_of(source):
    """The points of an answer to `split_heads`; several tests compare with them."""
    return run.grade_source(SPLIT, source, backend=choose()).score


@pytest.mark.parametrize("name", ["is_refuted", "explain", "shrink_counterexample", "localize_fault"])
def test_an_explanation_that_fails_is_logged_and_loses_no_verdict(monkeypatch, caplog, name):
    named = name == "is_refuted"  # only a name can be refuted, and only an answer without one needs an explanation
    source = text(SPLIT, "wrong", "heads_not_moved_forward") if named else DOUBLED_HEADS
    before = score_of(source)
    monkeypatch.setattr(run, name, lambda *args: 1 / 0)
    verdict = run.grade_source(SPLIT, source, backend=choose())
    assert (verdict.status, verdict.score) == ("failed", before)
    assert "ZeroDivisionError" in caplog.text and SPLIT.id in caplog.text


def test_check_prints_one_object_a_file():
    words = ["check", ATTEND.id, str(answers(ATTEND, "right")[0]), "--json"]
    done = subprocess.run([sys.executable, "-m", "autograder", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"file", "exercise", "status", "score", "max_score", "checks", "misconception", "counterexample", "seed",
            "device", "sandbox"} <= found.keys()  # fmt: skip


def test_bad_requests_are_one_line(tmp_path, capsys):
    broken = tmp_path / "x.ipynb"
    broken.write_text("{")
    for arguments, said in [
        (("check", "attention.atend", "x.py"), "did you mean attention.attend"),
        (("check", ATTEND.id, "nowhere.py"), "there is no file nowhere.py"),
        (("check", ATTEND.id, str(broken)), "is not a notebook"),
    ]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        told = capsys.readouterr().err
        assert ended.value.code == 2 and said in told and len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "kind", "answer"),
    [
        ("reformer.reversible", "right", "list_of_two"),
        ("reformer.reversible", "wrong", "inputs_kept_all_the_same"),
        ("reformer.chunked", "right", "recursion"),
        ("reformer.chunked", "wrong", "all_at_once"),
    ],
)
def test_layers_that_an_answer_takes_are_made_in_the_box(name, kind, answer):
    exercise = registry.find(name)
    verdict = run.grade_source(exercise, text(exercise, kind, answer), backend=choose())
    assert (verdict.status, verdict.misconception) == (("passed", None) if kind == "right" else ("failed", answer))


class Counting:
    """A sandbox that counts the boxes that it starts."""

    def __init__(self):
        self.started = 0

    def __getattr__(self, name):
        return getattr(choose(), name)

    def start(self, limits):
        self.started += 1
        return choose().start(limits)


def test_cells_that_end_the_box_again_and_again_cost_the_submission_six_boxes():
    """60 such cells took 44 s, each started the box anew; 5,000 that wait first would have taken days."""
    exercise, backend = registry.find("masks.causal"), Counting()
    cells = [run.CellSource(f"killer-{n}", "import os; os._exit(0)") for n in range(12)]
    cells.append(run.CellSource("answer", "def causal_mask(n): ...", exercise.id))
    verdict = run.Grader(cells, backend).grade(exercise)
    assert backend.started == 6 == run.RESTARTS + 1
    assert verdict.status == "failed" and "6 cells have ended the process" in str(verdict.as_json())


def test_cells_that_do_not_finish_in_time_are_not_said_to_have_ended_the_process():
    exercise, backend = registry.find("masks.causal"), Counting()
    cells = [run.CellSource(f"slow-{n}", "while True: pass") for n in range(6)]
    cells.append(run.CellSource("killer", "import os; os._exit(0)"))
    cells.append(run.CellSource("answer", text(exercise, "right", "lower_triangle"), exercise.id))
    verdict = run.Grader(cells, backend, limits=Limits(call_s=1.0)).grade(exercise)
    assert verdict.status == "passed" and backend.started == 2, verdict.reason
