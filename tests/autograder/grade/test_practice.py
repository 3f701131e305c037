"""Checks in this process: the engine's own verdicts, for practice."""

from __future__ import annotations

import pytest

from autograder.checking import notebook
from autograder.exercises import registry
from autograder.exercises.answers import answer
from autograder.grade import practice

CAUSAL = "masks.causal"


def written(name):
    return answer(registry.find(CAUSAL), name).read_text(encoding="utf-8")


def test_a_right_answer_passes_and_the_verdict_says_that_it_is_practice():
    found = practice.practice_verdict(CAUSAL, [written("lower_triangle")], {})
    assert found["status"] == "passed" and found["score"] == found["max_score"] > 0
    assert found["sandbox"] == practice.NAME
    assert "practice verdict" in notebook.as_html(found) and "not a grade" in notebook.as_html(found)


def test_a_wrong_answer_fails_and_is_called_by_its_name():
    found = practice.practice_verdict(CAUSAL, [written("wrong/own_position_hidden")], {})
    assert found["status"] == "failed" and found["misconception"] == "own_position_hidden"


def test_what_the_notebook_defines_is_used_and_left_alone():
    helper = "import torch\n\ndef lower(length):\n    return torch.ones(length, length).tril().bool()\n"
    names = {}
    exec(helper, names)
    before = dict(names)
    cell = "def causal_mask(length):\n    return lower(length)\n"
    assert practice.practice_verdict(CAUSAL, [helper, cell], names)["status"] == "passed"
    assert names == before


def test_the_last_cell_that_defines_each_name_counts():
    history = ["def f(): 1", "g = 2", "broken(", "def f(): 3", "class K: pass", "f()"]
    assert practice.defining(["f", "K"], history) == ["def f(): 3", "class K: pass"]
    assert practice.defining(["h"], history) == []


@pytest.mark.parametrize(
    "cells, said",
    [
        ([], "is not defined"),
        (["def causal_mask(:"], "is not defined"),
        (["raise ValueError('so')\ndef causal_mask(): 1"], "ValueError: so"),
    ],
)
def test_code_that_stops_or_is_missing_is_told(cells, said):
    found = practice.practice_verdict(CAUSAL, cells, {})
    assert found["status"] == "failed" and said in found["reason"]


def test_what_a_partial_torch_cannot_do_is_not_run_and_costs_nothing(monkeypatch):
    monkeypatch.setattr(practice.torch, "PRACTICE", "a torch of cardboard", raising=False)
    found = practice.practice_verdict("attention.scaled_dot_product", [
        answer(registry.find("attention.scaled_dot_product"), "textbook").read_text("utf-8")], {})  # fmt: skip
    left = [check for check in found["checks"] if check["status"] == "not_run"]
    assert found["status"] == "passed" and left
    told = [check["message"] for check in left if "float" in check["name"]]
    assert told and all("a torch of cardboard has no such type" in message for message in told)


def test_what_such_a_torch_lacks_is_no_mistake_of_the_students():
    cell = """class UnsupportedInBrowser(AttributeError):
    pass


def causal_mask(length, device=None):
    raise UnsupportedInBrowser("torch.tril_indices is not supported by torch in the browser")
"""
    found = practice.practice_verdict(CAUSAL, [cell], {})
    assert found["status"] == "not_graded" and "torch.tril_indices is not supported" in found["reason"]


def test_a_kernel_in_a_tab_checks_in_its_own_process(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    shell, shown = InteractiveShell(), []
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setattr("IPython.display.display", lambda data, **how: shown.append(data))
    monkeypatch.setattr(notebook.sys, "platform", notebook.BROWSER)
    shell.run_cell(written("lower_triangle"), store_history=True)
    notebook.check(CAUSAL)
    assert shown[0][notebook.MIME]["status"] == "passed" and "practice verdict" in shown[0]["text/html"]
