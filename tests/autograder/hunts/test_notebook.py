"""A hunt in a notebook: drawn, shown and checked in processes of its own."""

import pytest

from autograder import hunt
from autograder.hunts import make, notebook
from autograder.hunts.notebook import HuntFailed


def test_what_a_student_writes_in_a_notebook_is_graded(tmp_path):
    drawn = hunt("masks.causal", seed=3, student="ada")
    expected = make.draw(make.find("masks.causal/sees_one_ahead").exercise, "ada", 3)
    assert drawn.code == expected.code
    page = drawn._repr_html_()
    assert "tfkit-is-hunt" in page and "h.check(" in page and expected.names[0] not in page
    assert expected.names[0] not in repr(drawn) and "The symptom" in repr(drawn)

    source = tmp_path / "cells.py"  # stands for the notebook's cells, which have their source as well
    source.write_text(
        "def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril()\n\n"
        "def test_it(answer):\n    assert torch.equal(answer(3), torch.ones(3, 3).bool().tril())\n"
    )
    cells: dict = {}
    exec(compile(source.read_text(), str(source), "exec"), cells)
    found = drawn.check(repair=cells["causal_mask"], test=cells["test_it"], lines=expected.fault_lines[0])
    assert found.found["status"] == "passed" and found.score > 3.5
    assert "tfkit-is-passed" in found._repr_html_() and "passes all checks" in repr(found)


def test_what_goes_wrong_is_told_in_a_line():
    with pytest.raises(HuntFailed, match="no exercise is called 'masks.causall'"):
        hunt("masks.causall")
    drawn = notebook.NotebookHunt({"code": "import math\n"}, ["masks.causal"])
    with pytest.raises(HuntFailed, match="nothing is handed in"):
        drawn.check()
    with pytest.raises(HuntFailed, match="source of len cannot be found: hand in its code as text"):
        drawn.check(repair=len)


def test_there_are_no_processes_in_a_browser_tab(monkeypatch):
    monkeypatch.setattr(notebook.sys, "platform", "emscripten")
    with pytest.raises(HuntFailed, match="browser tab"):
        hunt("masks.causal")
