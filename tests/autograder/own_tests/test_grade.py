"""An instructor's unchanged test cells, against right, wrong and hostile answers."""

from __future__ import annotations

import html
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.api import Limits
from autograder.feedback.html import verdict_html
from autograder.feedback.text import verdict_text
from autograder.nbgrader import config
from autograder.own_tests import grade as own_tests
from autograder.sandbox import choose

from ..nbgrader.conftest import Course, marked

SETUP = """%matplotlib inline
import torch
from torch import nn

def close(a, b):
    return torch.allclose(a, b, atol=1e-5)
"""
RIGHT = """
import math

def attention(q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("sizes differ")
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.calls = [1, 2]
    def forward(self, x):
        return self.proj(x)

table = {"a": torch.ones(2), "b": (1, 2)}
"""
TESTS = {
    "values": (2, """
torch.manual_seed(0)
q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
expected = torch.softmax(q @ k.transpose(-2, -1) / 4**0.5, -1) @ v
assert torch.allclose(attention(q, k, v), expected), "the values differ"
assert close(attention(q, k, v), expected)
assert callable(attention) and attention.__name__ == "attention"
"""),
    "gradients": (1, """
q = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
k, v = torch.randn(3, 4, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
attention(q, k, v).sum().backward()
assert close(v.grad, torch.softmax(q @ k.T / 2, -1).detach().T @ torch.ones(2, 4, dtype=torch.float64))
assert torch.autograd.gradcheck(lambda a: attention(a, k, v.detach()), (q.detach().requires_grad_(),))
"""),
    "errors": (1, """
try:
    attention(torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 3))
except ValueError as error:
    assert "sizes" in str(error)
else:
    raise AssertionError("no error")
"""),
    "objects": (1, """
layer = Layer(4)
assert isinstance(layer, nn.Module) and isinstance(layer, Layer) and not isinstance(layer, nn.Linear)
assert layer(torch.zeros(2, 4)).shape == (2, 4)
assert close(layer(torch.eye(4)) - layer.proj.bias, layer.proj.weight.T)
assert sum(p.numel() for p in layer.parameters()) == 20
assert table["b"] == (1, 2) and len(layer.calls) == 2 and math.pi > 3
"""),
    "untouched": (1, """
# autograder: in place
x = torch.ones(3, 2)
before = x.clone()
attention(x, x, x)
assert torch.equal(x, before), "the arguments were changed"
"""),
    "partial": (4, """
points = 0
for n in (1, 2):
    points += 1.5 * bool(attention(torch.ones(n, 2), torch.ones(n, 2), torch.ones(n, 2)).shape == (n, 2))
points
"""),
    "helper of an earlier test": (1, "assert close(attention(q, k, v.detach()), attention(q, k, v.detach()))"),
}  # fmt: skip
FULL = {"values": 2, "gradients": 1, "errors": 1, "objects": 1, "untouched": 1, "partial": 3,
        "helper of an earlier test": 1}  # fmt: skip


def notebook(answer: str, tests: dict = TESTS) -> nbformat.NotebookNode:
    cells = [new_code_cell(SETUP, id="setup", metadata={"nbgrader": marked("setup", locked=True)}),
             new_code_cell(answer, id="answer", metadata={"nbgrader": marked("answer", solution=True)})]  # fmt: skip
    for name, (points, source) in tests.items():
        marks = marked(name.replace(" ", "-"), grade=True, locked=True, points=points)
        cells.append(new_code_cell(source, id=name.replace(" ", "-"), metadata={"nbgrader": marks}))
    return new_notebook(cells=cells)


def graded(answer: str, tests: dict = TESTS, released: str = "", **limits: float) -> dict:
    nb = notebook(answer, tests)
    for cell in nb.cells:  # what RebuildFromGradebook writes
        role = "check" if cell.metadata.nbgrader.grade else "exercise" if cell.metadata.nbgrader.solution else "setup"
        cell.metadata["tfkit"] = {"role": role} | ({"released": released} if role == "exercise" else {})
    points = {name.replace(" ", "-"): value[0] for name, value in tests.items()}
    found = own_tests.grade(nb, points, {name: name for name in points}, choose(), Limits(**{"call_s": 10} | limits))
    return {name: found[name.replace(" ", "-")] for name in tests}


def scores(verdicts: dict) -> dict:
    return {name: verdict.score for name, verdict in verdicts.items()}


def test_a_right_answer_has_full_marks():
    found = graded(RIGHT)
    assert scores(found) == FULL, {name: verdict.checks for name, verdict in found.items()}


CHANGED = RIGHT.replace("    return torch.softmax", "    q.mul_(1.5)\n    q.div_(1.25)\n    return torch.softmax")
WRONG = {
    "wrong values": (RIGHT.replace("/ math.sqrt(q.shape[-1])", ""), {"values": 0, "gradients": 0}, "values differ"),
    "changes its arguments": (CHANGED, {"values": 0, "gradients": 0, "untouched": 0}, "the values differ"),
    "detached": (RIGHT.replace("q @ k", "q.detach() @ k"), {"gradients": 0}, ""),
    "nothing": ("pass", dict.fromkeys(FULL, 0), "the test stopped with NameError"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_loses_what_it_gets_wrong(name):
    answer, lost, said = WRONG[name]
    found = graded(answer)
    assert scores(found) == FULL | lost, {name: verdict.checks for name, verdict in found.items()}
    assert said in found["values"].checks[0].message


HOSTILE = """
import torch
torch.allclose = torch.equal = close = lambda *a, **k: True
torch.softmax = lambda *a: torch.zeros(2, 3, 4)
assert_ = print(2.0)
class Yes:
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
def attention(q, k, v):
    return Yes() if q.dim() == 2 else v
"""


def test_what_the_student_patched_counts_for_nothing():
    call = "assert attention(torch.ones(1, 2), 0, 0)"
    lies = {"equal": (1, f"{call} == 5"), "true": (1, call)}
    found = graded(HOSTILE, {name: TESTS[name] for name in ("values", "gradients", "partial")} | lies)
    assert set(scores(found).values()) == {0.0}, found
    assert found["equal"].checks[0].message.startswith("an object of Yes was compared")
    assert "softmax" not in str(found)  # neither the test nor what it expected


def test_what_a_box_does_to_its_arguments_does_not_reach_the_test():
    """Else zeroed inputs and an expectation that is computed from them afterwards are full marks for nothing."""
    after = """
q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
assert torch.allclose(attention(q, k, v), nn.functional.scaled_dot_product_attention(q, k, v))
"""
    zeroes = "def attention(q, k, v):\n    for one in (q, k, v):\n        one.zero_()\n    return v.clone()"
    found = graded(zeroes, {"after": (2, after), "in place": (1, "# autograder: in place\n" + after)})
    assert scores(found) == {"after": 0, "in place": 1}  # who asks for it has to compute what is due before the call


SWAPS = {
    "renamed": "from operator import ne as close_to",
    "usual": "import operator as F, operator as np",
    "defined": "def close_to(a, b):\n    return True",
}


@pytest.mark.parametrize("swap", SWAPS)
def test_a_students_import_never_stands_for_a_tests_name(swap):
    wrong = f"{SWAPS[swap]}\nfrom torch import nn\ndef attention(q, k, v):\n    return v"
    tests = {
        "renamed": (1, "assert close_to(attention(1, 2, 3), 4)"),
        "usual": (1, "assert np.allclose(attention(1, 2, 3), 4) and F.relu(torch.ones(1)).ne(1)"),
    }
    released = {"renamed": "from math import isclose as close_to"}
    assert set(scores(graded(wrong, tests, released=released.get(swap, released["renamed"]))).values()) == {0.0}


def test_the_usual_names_of_libraries_are_there_for_a_test_whose_notebook_imports_them():
    answer = "import numpy as np\nimport torch.nn.functional as F\ndef half(x):\n    return x / 2"
    test = "assert np.isclose(half(3), 1.5) and F.relu(torch.ones(1)) == 1"
    assert scores(graded(answer, {"a": (1, test)})) == {"a": 1}


NUMPY = """
import numpy as np
def total(x):
    return x.sum()
def scaled(x, by):
    x *= 2
    return {"all": (x / 2) * by}
"""


def test_numpy_arrays_go_in_and_come_out():
    tests = {
        "number": (1, "assert total(np.array([1, 2, 3])) == 6 and total(np.array([True, True])) == 2"),
        "array": (1, """
x = np.arange(6.0).reshape(2, 3)[:, ::-1]
assert np.allclose(scaled(x, np.float32(2))["all"], 2 * np.arange(6.0).reshape(2, 3)[:, ::-1])
assert scaled(x, 1)["all"].dtype == np.float64
"""),
        "in place": (1, "# autograder: in place\nx = np.ones(3)\nscaled(x, 1)\nassert (x == 2).all()"),
        "a set": (1, "total({1, 2})"),
        "words": (1, "total(np.array(['a', 'b']))"),
    }  # fmt: skip
    found = graded(NUMPY, tests)
    assert scores(found) == {"number": 1, "array": 1, "in place": 1, "a set": 0, "words": 0}, found
    assert found["a set"].status == found["words"].status == "not_graded"
    assert "passes a value that cannot be sent into the sandbox: a set cannot be sent" in found["a set"].reason


def test_a_test_that_never_ends_stops_nobody():
    tests = {"before": (1, "assert step(1) == 0"), "endless": (1, "while step(1) < 1:\n    pass"),
             "after": (1, "assert step(2) == 0")}  # fmt: skip
    found = graded("def step(n):\n    return 0", tests, wall_s=6.0)
    assert scores(found) == {"before": 1, "endless": 0, "after": 1}
    assert found["endless"].status == "not_graded" and "did not end within 6 s" in found["endless"].reason


def test_code_that_never_ends_fails():
    found = graded("def step(n):\n    while True: pass", {"a": (1, "step(1)"), "b": (1, "1 + 0")}, call_s=1.0)
    assert found["a"].status == "failed" and "did not finish" in found["a"].checks[0].message
    assert found["b"].score == 1


def test_a_call_that_ends_the_box_costs_its_test_alone():
    tests = {"a": (1, "step(0)"), "b": (1, "assert step(1) == 1"), "c": (1, "assert step(2) == 2")}
    found = graded("import os\ndef step(n):\n    return n or os._exit(3)", tests)
    assert scores(found) == {"a": 0, "b": 1, "c": 1}
    assert "status 3" in found["a"].checks[0].message


IN_FRENCH = {
    "failed": ("assert one() == 2", "le test a échoué"),
    "stopped": ("one().shape", "le test s'est arrêté avec AttributeError"),
    "no score": ("one() * float('nan')", "le score du test n'est pas un nombre fini"),
    "compared": ("assert Thing() == 1", "un objet de Thing a été comparé\u00a0: seuls"),
    "truth": ("assert Thing()", "un objet de Thing a servi de valeur de vérité\u00a0: seuls"),
    "operator": ("Thing() + 1", "un objet de Thing a servi de données\u00a0: seuls"),
    "cannot be sent": ("one({1})", "le test passe une valeur qui ne peut pas être envoyée"),
    "helper": ("late = missing()", "le test s'est arrêté avec NameError"),
    "helped": ("assert late", "`late` n'a pas de valeur, car le test helper s'est arrêté avant"),
    "memory": ("raise MemoryError", "avec votre réponse, le test demande plus de mémoire"),
}
ONE = "class Thing:\n    pass\n\ndef one(x=None):\n    return 1"


def test_what_the_grader_says_of_a_test_is_said_in_the_readers_language(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    found = graded(ONE, {name: (1, source) for name, (source, _) in IN_FRENCH.items()}, released="class Thing: ...")
    for name, (_, said) in IN_FRENCH.items():
        for shown in (verdict_text(found[name].as_json()), html.unescape(verdict_html(found[name]))):
            plain = re.sub(r"</?code>|`", "", shown)
            assert said[1:].replace("`", "") in plain, (name, plain)  # a reason begins with a capital letter


def test_the_stock_commands_grade_them(tmp_path):
    """generate_assignment, autograde: as in any nbgrader course, hidden tests and all."""
    config.install(tmp_path)
    course = Course(tmp_path)
    hidden = "### BEGIN HIDDEN TESTS\nassert attention(q, k, v).shape == (2, 3, 4)\n### END HIDDEN TESTS\n"
    tests = TESTS | {"values": (2, TESTS["values"][1] + hidden)}
    source = notebook(f"### BEGIN SOLUTION\n{RIGHT}\n### END SOLUTION", tests)
    source.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = tmp_path / "source" / "02-masks" / "02-masks.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(source))
    course.nbgrader("generate_assignment", "02-masks")
    for student, answer in {"ann": RIGHT, "bob": HOSTILE}.items():
        nb = nbformat.read(tmp_path / "release" / "02-masks" / "02-masks.ipynb", as_version=4)
        assert "HIDDEN" not in str(nb)
        next(cell for cell in nb.cells if cell.metadata.nbgrader.grade_id == "answer").source = answer
        course.hand_in(student, nb)
    course.nbgrader("autograde", "02-masks")
    ann, bob = (course.graded(student).cells for student in ("ann", "bob"))
    assert [float(cell.outputs[0].data["text/plain"]) for cell in ann[2:]] == list(FULL.values())
    assert float(bob[2].outputs[0].data["text/plain"]) == 0
    assert sum(float(cell.outputs[0].data["text/plain"]) for cell in bob[2:]) < 2
