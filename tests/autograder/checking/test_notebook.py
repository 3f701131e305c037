"""`check()` in a notebook: what was run goes to the engine in another process, and the verdict comes back."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.checking import client, kernel_state, notebook
from autograder.exercises import registry
from autograder.exercises.answers import answers

CAUSAL = registry.find("masks.causal")


def test_what_was_run_is_graded():
    right = answers(CAUSAL, "right")[0].read_text()
    history = ["", "from autograder import check", right, f'check("{CAUSAL.id}")']
    found = notebook.verdict(CAUSAL.id, history)
    assert found["status"] == "passed"
    assert CAUSAL.id in notebook.as_html(found) or "passed" in notebook.as_html(found).lower()


def test_the_last_definition_counts():
    right, wrong = (answers(CAUSAL, kind)[0].read_text() for kind in ("right", "wrong"))
    assert notebook.verdict(CAUSAL.id, [right, wrong])["status"] == "failed"


ASK = f'from autograder import check\n\ncheck("{CAUSAL.id}")'
RIGHT = "def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril()"


def shown(history, names=()):
    """The output of a check in a kernel that has run these cells."""
    return notebook.output(CAUSAL.id, history, names, lambda: notebook.verdict(CAUSAL.id, history))


@pytest.fixture
def in_notebook(tmp_path, monkeypatch):
    """A notebook whose imports, an own function and the answer stand above the check, and another function below."""
    cells = [new_code_cell("import torch"), new_code_cell("def lower(x):\n    return x.tril()"), new_code_cell(RIGHT),
             new_code_cell(ASK, metadata={"tfkit": {"role": "check", "exercise": CAUSAL.id}}),
             new_code_cell("def below(x):\n    return x.tril()")]  # fmt: skip
    nbformat.write(new_notebook(cells=cells), tmp_path / "02.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "02.ipynb"))


@pytest.mark.parametrize("history", [["", ASK], ["", "import torch", "causal_masc = 3", ASK]])
def test_after_a_restart_the_answer_has_to_be_run_first_and_nothing_is_recorded(history):
    found = shown(history)
    assert notebook.MIME not in found and found[notebook.NOT_RUN]["exercise"] == CAUSAL.id
    assert found["text/plain"].startswith(f"{CAUSAL.id}: The cell with your answer has not been run in this kernel")
    assert "Run All Above" in found["text/html"] and "0 of" not in found["text/html"]


@pytest.mark.parametrize(
    "answer, name",
    [(RIGHT, "torch"), ("import torch\ndef causal_mask(n):\n    return lower(torch.ones(n, n, dtype=bool))", "lower")],
)
def test_an_answer_without_the_cells_above_it_is_no_wrong_answer(answer, name, in_notebook):
    found = shown(["", answer, ASK])
    assert notebook.MIME not in found
    assert found[notebook.NOT_RUN]["reason"].startswith(f"{name} is not defined in this kernel: cells above")


@pytest.mark.parametrize(
    "history",
    [
        ["import torch", RIGHT.replace("torch.ones", "torhc.ones")],  # no cell defines that
        ["import torch", RIGHT.replace("torch.ones(", "below(torch.ones(") + ")"],  # its cell stands below
        ["import torch", "def causal_mask(length)\n    return 3", "causal_mask = None"],
        ["import torch", "def causal_mask(length):\n    return torch.ones(length)"],
    ],
)
def test_a_wrong_answer_is_one_though_it_stops_with_a_name(history, in_notebook):
    assert shown([*history, ASK])[notebook.MIME]["status"] == "failed"


def test_an_answer_of_which_the_kernel_knows_in_another_way_is_checked():
    assert kernel_state.missing_answer(CAUSAL.id, ["from answers import *"]) == ["causal_mask"]
    assert kernel_state.missing_answer(CAUSAL.id, ["from answers import *"], {"causal_mask"}) == []


def test_the_names_that_cells_define():
    text = """
%matplotlib inline
import torch.nn as nn, os.path
from math import pi as circle
try:
    x, (y, *z) = 1, (2, 3)
except ValueError as error:
    w = [inner for inner in z]
class A:
    inside = 1
def f(argument):
    local = argument
with open("x") as file: pass
lambda hidden: hidden
declared: int
"""
    defined = {"nn", "os", "circle", "x", "y", "z", "w", "A", "f", "file"}
    assert kernel_state.names_defined_by([text, "def broken(:"]) == defined


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"cells": [{}]}'])
def test_a_notebook_that_cannot_be_read_defines_nothing(tmp_path, text):
    if text is not None:
        (tmp_path / "x.ipynb").write_text(text)
    assert kernel_state.cells_above_check(CAUSAL.id, {"JPY_SESSION_NAME": str(tmp_path / "x.ipynb")}) == []
    assert kernel_state.cells_above_check(CAUSAL.id, {}) == []


def test_an_exercise_that_is_not_there():
    with pytest.raises(notebook.CheckFailed, match="no exercise is called"):
        notebook.verdict("masks.casual", ["x = 1"])


class Shown:
    """What a display's handle was told, in place of a front end."""

    def __init__(self):
        self.told = []

    def update(self, data, raw):
        assert raw
        self.told.append(data)


def test_a_check_that_goes_on_says_so_until_its_verdict_is_there(monkeypatch):
    monkeypatch.setattr(client, "PROGRESS_S", 0.05)
    shown = Shown()
    notebook._show_verdict_later(shown, CAUSAL.id, [answers(CAUSAL, "right")[0].read_text()])
    *waiting, last = shown.told
    assert waiting and all(notebook.PENDING in data and "Checking" in data["text/plain"] for data in waiting)
    assert notebook.PENDING not in last and last[notebook.MIME]["status"] == "passed"


def test_a_check_that_cannot_be_made_says_why_where_its_verdict_would_be():
    shown = Shown()
    notebook._show_verdict_later(shown, "masks.casual", ["x = 1"])
    assert "no exercise is called" in shown.told[-1]["text/html"] and notebook.MIME not in shown.told[-1]
    assert not notebook._turn.locked()


def test_the_kernel_is_free_while_a_check_goes_on():
    """A kernel asked as front ends ask: the cell has ended, the next one runs, the verdict takes the output's place."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    try:
        client.execute("def causal_mask(length): return length", allow_stdin=True)
        client.execute(f'from autograder import check\ncheck("{CAUSAL.id}")', allow_stdin=True)
        client.execute("print('free')", allow_stdin=True)
        seen = []
        while not any(notebook.MIME in data for _, data in seen):
            message = client.get_iopub_msg(timeout=120)
            if message["msg_type"] in ("display_data", "update_display_data", "stream"):
                place = message["content"].get("transient", {}).get("display_id")
                seen.append((place, message["content"].get("data", {"free": 1})))
        assert notebook.PENDING in seen[0][1] and {"free": 1} in [data for _, data in seen]
        assert seen[-1][0] == seen[0][0] and seen[-1][1][notebook.MIME]["status"] == "failed"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
