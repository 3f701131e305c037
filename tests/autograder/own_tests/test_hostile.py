"""Answers that once earned an instructor's own test without being right, each named after what it does."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.api import Limits, Verdict
from autograder.own_tests import grade as own_tests
from autograder.sandbox import choose

from ..nbgrader.conftest import marked

LIMITS = {"call_s": 5.0, "memory_mb": 1024}
SETUP = "import torch\nimport numpy as np\nimport math"


def grade(answer: str, *tests: str, setup: str = SETUP, locked: bool = True, released: str = "# your code here",
          **limits: float) -> list[Verdict]:  # fmt: skip
    cells = [_cell("setup", setup, "setup", {"locked": locked})] if setup else []
    cells.append(_cell("answer", answer, "exercise", {"solution": True}, released))
    names = [f"test-{number}" for number in range(len(tests))]
    cells += [
        _cell(name, test, "check", {"grade": True, "locked": True}) for name, test in zip(names, tests, strict=True)
    ]
    nb = new_notebook(cells=cells)
    points = dict.fromkeys(names, 1.0)
    found = own_tests.grade(nb, points, {name: name for name in names}, choose(), Limits(**LIMITS | limits))
    return [found[name] for name in names]


def _cell(name: str, source: str, role: str, flags: dict[str, bool], released: str = "") -> nbformat.NotebookNode:
    tfkit = {"role": role} | ({"released": released} if released else {})
    return new_code_cell(source, id=name, metadata={"nbgrader": marked(name, **flags), "tfkit": tfkit})


ZERO = """
import torch
class Z:
    def __getattr__(self, name):
        return lambda *a, **k: 0.0
    def __sub__(self, other): return torch.zeros(3)
    __rsub__ = __truediv__ = __rtruediv__ = __mul__ = __rmul__ = __add__ = __radd__ = __sub__
    __pow__ = __matmul__ = __mod__ = __floordiv__ = __sub__
    def __neg__(self): return torch.zeros(3)
    __abs__ = __neg__
    def __float__(self): return 0.0
    def __int__(self): return 0
    def __truediv__(self, other): return 1
def f(x): return Z()
"""
ZERO_TESTS = (
    "assert abs(f(3) - 9) < 1e-6",
    "expected = torch.ones(3)\nassert (f(3) - expected).abs().max() < 1e-6",
    "expected = torch.ones(3)\nassert (expected - f(3)).abs().max() < 1e-6",
    "expected = torch.ones(3)\nassert torch.norm(f(3) - expected) < 1e-6",
    "expected = np.ones(3)\nassert np.abs(f(3) - expected).max() < 1e-6",
    "expected = np.ones(3)\nassert np.abs(expected - f(3)).max() < 1e-6",
    "assert f(2) / 4 == 1",
    "assert f(3).sub(torch.ones(3)).abs().max() < 1e-6",
    "assert f(3).dist(torch.ones(3)) == 0",
    "assert not f(3).allclose(torch.ones(3))",
    "assert math.isclose(float(f(3)), 0.0)",
    "assert -f(3) == 0 or True",
)


def test_own_test_zero_difference():
    """The difference of two answers was computed by the student's `__sub__`."""
    found = grade(ZERO, *ZERO_TESTS)
    passed = [test for test, one in zip(ZERO_TESTS, found, strict=True) if one.score or one.status != "failed"]
    assert not passed
    assert "an object of Z" in found[0].checks[0].message and "# autograder: objects" in found[0].checks[0].message


EXPECTED_TAKEN = """
import torch
seen = []
class Z:
    def __sub__(self, other): seen.append(other); return torch.ones(3)
    __rsub__ = __add__ = __radd__ = __mul__ = __sub__
    def sub(self, other): return self - other
def f(x): return seen[-1] if seen else Z()
"""


def test_own_test_expected_taken():
    """An operator carried what was expected into the box, and the next call handed it back."""
    carried = "expected = torch.ones(3)\ntry:\n    {}\nexcept Exception:\n    pass\nassert torch.equal(f(3), expected)"
    for how in ("f(3) - expected", "expected * f(3)", "f(3).sub(expected)"):
        assert grade(EXPECTED_TAKEN, carried.format(how))[0].score == 0, how


FAILS_ONCE = """
def f(x):
    raise ValueError("in the locked cell")
def close(a, b): return True
"""
HELPER = "{}\ndef close(a, b):\n    return abs(a - b) < 1e-6"


@pytest.mark.parametrize("before", ["f(1)", "open('data-beside-the-notebook.csv')"], ids=["fails_open", "unrunnable"])
def test_own_test_helper(before):
    """A locked cell that stops before it defines `close` left the name to the student."""
    (found,) = grade(FAILS_ONCE, "assert close(0, 1)", setup=HELPER.format(before))
    assert (found.status, found.score) == ("not_graded", 0)
    assert found.reason.startswith("`close` has no value, since the locked cell setup stopped with ")


def test_own_test_helper_of_a_failed_test():
    """The same with a helper that an earlier test would have defined."""
    later = "f(1)\ndef close(a, b):\n    return abs(a - b) < 1e-6"
    first, second = grade(FAILS_ONCE, later, "assert close(0, 1)")
    assert first.score == second.score == 0 and second.status == "failed"
    assert "`close`" in second.checks[0].message


def test_own_test_helper_caught():
    """Nor does a test that catches every exception fall back to the student's helper."""
    caught = "try:\n    ok = close(0, 1)\nexcept Exception:\n    ok = True\nassert ok"
    (found,) = grade(FAILS_ONCE, caught, setup=HELPER.format("f(1)"))
    assert found.status == "not_graded"


IMPORT_REMOVED = """
class torch:
    allclose = staticmethod(lambda *a, **k: True)
    tensor = ones = staticmethod(lambda *a, **k: 1)
np = math = F = nn = torch
def f(x): return 0
"""


def test_own_test_import_removed():
    """The set-up was not locked: the student deleted `import torch` and defined `torch`."""
    tests = ("assert torch.allclose(torch.tensor(f(3)), torch.ones(3))", "assert np.allclose(f(3), 1)",
             "assert math.isclose(f(3), 1)")  # fmt: skip
    assert [one.score for one in grade(IMPORT_REMOVED, *tests, setup="")] == [0, 0, 0]


def test_a_usual_name_that_the_release_gives_to_the_answer_is_the_students():
    tests = ("assert copy([1]) == [1]",)
    answer = "def copy(x):\n    return list(x)"
    (known,) = grade(answer, *tests, setup="", released="def copy(x):\n    raise NotImplementedError")
    (unknown,) = grade(answer, *tests, setup="")
    assert known.score == 1
    assert unknown.status == "not_graded" and "`copy`" in unknown.reason


INNER_NAMES = """
def f(x): return x
rows = [[copy, time] for copy, time in enumerate("ab")]
if rows:
    def clock():
        random = 3
        return random
"""


def test_a_name_inside_a_comprehension_or_function_takes_nothing_from_a_library():
    test = "assert f(copy.copy(3)) == 3 and f(random.Random(0).random()) < 1 < time.time()"
    assert [one.status for one in grade(INNER_NAMES, test, setup="")] == ["passed"]


def test_a_name_that_the_release_defines_in_a_branch_is_the_students():
    released = "import sys\nif sys.version_info > (3,):\n    def copy(x):\n        raise NotImplementedError"
    (found,) = grade("def copy(x):\n    return list(x)", "assert copy([1]) == [1]", setup="", released=released)
    assert found.status == "passed"


FORGED = """
import torch
def f(x):
    class Tensor(list):
        shape, dtype = (2, 3), torch.float32
    made = type("Tensor", (), {"shape": (2, 3), "dtype": torch.float32, "ndim": 2})
    made.__module__, made.__qualname__ = "torch", "Tensor"
    return made()
"""


def test_own_test_forged_class():
    """A class that calls itself torch.Tensor answered `isinstance` and `.shape`."""
    test = "out = f(1)\nassert isinstance(out, torch.Tensor)\nassert out.shape == (2, 3) and out.dtype == torch.float32"
    assert grade(FORGED, test)[0].score == 0


BOMB = """
class Bomb:
    shape = (1 << 20, 1 << 14)
def f(x): return Bomb() if x else [0]
"""


def test_own_test_shape_bomb():
    """A shape that the student chose made the grader's child allocate it."""
    bomb = "out = f(1)\nassert torch.ones(out.shape).sum() > 0"
    first, second = grade(BOMB, bomb, "assert f(0) == [0]")
    assert first.status == "failed" and "memory" in first.checks[0].message
    assert second.score == 1


KILLER = "import os\ndef f(x):\n    os._exit(0)"


def test_notebook_killer_cells():
    """Cells that end their process, one after the other, started a new box each."""
    cells = [_cell("answer", "def f(x):\n    return x", "exercise", {"solution": True})]
    cells += [new_code_cell("import os\nos._exit(0)", id=f"killer-{number}", metadata={}) for number in range(9)]
    cells.append(_cell("test", "assert f(1) == 1", "check", {"grade": True, "locked": True}))
    started: list[int] = []

    class Counting:
        def __getattr__(self, name):
            return getattr(choose(), name)

        def start(self, limits):
            started.append(1)
            return choose().start(limits)

    found = own_tests.grade(new_notebook(cells=cells), {"test": 1.0}, {"test": "test"}, Counting(), Limits(**LIMITS))
    assert len(started) == 6
    assert found["test"].status == "failed" and found["test"].checks[0].message.startswith("6 cells ended their")


def test_where_tests_alone_do_not_end_those_that_are_not_run_are_left_to_a_person():
    """The answer had 0 points for the last, and was said to end its process."""
    endless = ["while f(1) < 1:\n    pass"] * 7
    found = grade("def f(x):\n    return 0", *endless, wall_s=2.0)
    assert [one.status for one in found] == ["not_graded"] * 7
    assert found[-1].reason.startswith("6 cells ended their process or did not finish in time")
