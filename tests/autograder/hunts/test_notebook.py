"""A hunt in a notebook: drawn, shown and checked in processes of its own."""

import ast
import sys

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder import hunt
from autograder.exercises import registry
from autograder.hunts import make, notebook, prove
from autograder.hunts.judge import judge_repair
from autograder.hunts.notebook import HuntFailed
from autograder.sandbox import choose


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


def shell_with(monkeypatch, *cells: str) -> InteractiveShell:
    """IPython after these cells."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell puts a module of its own there
    shell = InteractiveShell()
    for cell in cells:
        shell.run_cell(cell, store_history=True).raise_error()
    return shell


def text_of(*things) -> str:
    return notebook.NotebookHunt({"code": "import math\n"}, [])._text(things)


OLD = "class Layer:\n    old = True\n\n    def step(self):\n        return 1\n"
LAYER = """%time x = 1
def keep(thing): return thing

class Outer:
    class Layer:
        def other(self): pass

@keep
class Layer:
    class Part:
        def step(self): return 3

    @property
    def size(self):
        return 2
"""
TABLE = "import dataclasses\n@dataclasses.dataclass\nclass Table:\n    rows: int = 3\n"


def test_a_class_of_a_cell_is_handed_in_as_it_was_run_last(monkeypatch):
    shell = shell_with(monkeypatch, OLD, LAYER, "'a cell without the class'")
    text = text_of(shell.user_ns["Layer"])
    assert text.startswith("import math\n") and ast.parse(text)
    assert "@keep\nclass Layer:" in text and "return 2" in text and "return 3" in text
    assert "old" not in text and "Outer" not in text


def test_a_class_is_that_of_its_own_cell_though_another_one_has_its_name(monkeypatch):
    shell = shell_with(monkeypatch, OLD, "First = Layer", LAYER)
    assert "old = True" in text_of(shell.user_ns["First"])


def test_a_class_without_a_method_of_its_own_is_found_in_the_history(monkeypatch):
    shell = shell_with(monkeypatch, TABLE.replace("3", "2"), TABLE)
    assert "@dataclasses.dataclass\nclass Table:\n    rows: int = 3" in text_of(shell.user_ns["Table"])


def test_a_class_of_a_module_is_found_in_its_file():
    assert "class ExerciseProofs" in text_of(prove.ExerciseProofs)


def test_a_class_whose_source_is_nowhere_is_to_be_given_as_text():
    with pytest.raises(HuntFailed, match="source of Made cannot be found: hand in its code as text"):
        text_of(type("Made", (), {"__module__": "__main__"}))


def test_a_repaired_class_of_a_notebook_is_graded(monkeypatch):
    given = make.hunts(registry.find("transformer.feed_forward"))[0]
    body = "\n".join(line for line in given.repair.splitlines() if not line.startswith(("import", "from")))
    shell = shell_with(monkeypatch, "import torch\nfrom torch import nn", body)
    text = notebook.NotebookHunt({"code": given.code}, [])._text(shell.user_ns["FeedForward"])
    assert judge_repair(given, text, choose()).status == "passed"


def test_what_goes_wrong_is_told_in_a_line():
    with pytest.raises(HuntFailed, match="no exercise is called 'masks.causall'"):
        hunt("masks.causall")
    drawn = notebook.NotebookHunt({"code": "import math\n"}, ["masks.causal"])
    with pytest.raises(HuntFailed, match="nothing is handed in"):
        drawn.check()
    with pytest.raises(HuntFailed, match="source of len cannot be found: hand in its code as text"):
        drawn.check(repair=len)


@pytest.mark.parametrize(
    ("lines", "given"), [(3, "3"), ([3, 5], "3,5"), ((), ""), (np.array([4, 2]), "4,2"), (np.int64(7), "7")]
)
def test_one_line_or_several_may_be_suspected(lines, given, monkeypatch):
    asked: list = []
    monkeypatch.setattr(notebook, "ask", lambda arguments, error: asked.append(arguments) or {})
    notebook.NotebookHunt({"code": ""}, ["masks.causal"]).check(lines=lines)
    assert asked[0][-1] == f"--lines={given}"


@pytest.mark.parametrize("lines", ["3", ["a"], 1.5, [1.5], [None], object])
def test_what_is_no_number_of_a_line_is_refused_in_a_sentence(lines, monkeypatch):
    monkeypatch.setattr(notebook, "ask", lambda *_: pytest.fail("asked"))
    with pytest.raises(HuntFailed, match="The suspected lines are whole numbers, one such as 3") as refused:
        notebook.NotebookHunt({"code": ""}, ["masks.causal"]).check(lines=lines)
    assert str(refused.value).endswith(f"and not {lines!r}.")


def test_in_a_browser_tab_a_sentence_stands_in_place_of_the_hunt(monkeypatch):
    monkeypatch.setattr(notebook.sys, "platform", "emscripten")
    absent = hunt("masks.causal")
    assert "browser tab" in repr(absent) and "<p>" in absent._repr_html_()
    assert absent.hand_in(list, list, str) is absent and absent.check() is absent and absent.code == ""


STUBS = """
def suspected_lines():
    raise NotImplementedError()

def test_it(answer):
    \"\"\"Fails on the code.\"\"\"
    raise NotImplementedError()

def repaired_code():
    raise NotImplementedError()
"""


def test_what_is_still_a_stub_is_not_handed_in(monkeypatch):
    drawn = notebook.NotebookHunt({"code": "import math\n"}, ["masks.causal"])
    asked: list = []
    monkeypatch.setattr(notebook, "ask", lambda arguments, error: asked.append(arguments) or {})
    mine = shell_with(monkeypatch, STUBS).user_ns
    assert "Nothing is handed in yet" in repr(
        drawn.hand_in(mine["suspected_lines"], mine["test_it"], mine["repaired_code"])
    )
    assert asked == []
    drawn.hand_in(lambda: [5], mine["test_it"], mine["repaired_code"])
    assert "--lines=5" in asked[0] and not {"--test", "--repair"} & set(asked[0])


def test_another_hunt_has_the_next_seed_and_is_otherwise_asked_for_alike(monkeypatch):
    asked = []
    monkeypatch.setattr(notebook, "ask", lambda words, _: asked.append(words) or {"code": ""})
    hunt("masks.causal", seed=3, student="ada", faults=2).another().another()
    hunt("page.gpt2").another()
    assert [words[3:] for words in asked] == [
        *(["--seed", seed, "--faults", "2", "--student", "ada", "--json"] for seed in "345"),
        *(["--seed", seed, "--faults", "1", "--json"] for seed in "01"),
    ]
