"""Attacks on what the grader does itself: each file in `grader` was paid once, or stopped a class."""

from __future__ import annotations

import ast
import importlib.util
import re
import resource
import time
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, writes

from autograder.api import Limits
from autograder.exercises import registry
from autograder.feedback.text import verdict_text
from autograder.grade import run
from autograder.nbgrader import submission
from autograder.nbgrader.feedback import PAPER, wrap_in_box
from autograder.own_tests import grade as own_tests
from autograder.sandbox import choose

HERE = Path(__file__).parent / "grader"
LIMITS = Limits(call_s=4.0, wall_s=60.0, memory_mb=1500, processes=16)
OWN_TEST = """
q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
said = attention(q, k, v)
assert_close(said, torch.nn.functional.scaled_dot_product_attention(q, k, v))
"""


def told(name: str, word: str) -> str:
    """The line `word: …` of the attack's docstring."""
    found = re.search(rf"^{word}: (.+)$", ast.get_docstring(ast.parse(text(name))) or "", re.M)
    return found.group(1) if found else ""


def text(name: str) -> str:
    return (HERE / f"{name}.py").read_text(encoding="utf-8")


ALL = sorted(path.stem for path in HERE.glob("*.py"))
GRADED = [name for name in ALL if told(name, "Exercise")]
QUICK = ("purity_forged", "settings_forged", "list_forged", "cost_modes_off", "cost_forged_kv_cache", "step_flood",
         "terminal_escape", "hugeint_not_graded", "peak_hoarded_buffer")  # fmt: skip


def test_there_are_twenty():
    assert len(ALL) == 20 and len(GRADED) == 15
    assert all(ast.get_docstring(ast.parse(text(name))) for name in ALL)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK)) for n in GRADED])
def test_it_is_not_paid_and_costs_the_grader_little(name):
    exercise, lost = registry.find(told(name, "Exercise")), told(name, "Fails")
    backend = choose()
    run.grade_source(exercise, "x = 1", backend=backend)  # what is loaded once is not the attack's doing
    memory, seconds = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    verdict = run.grade_source(exercise, text(name), backend=backend, limits=LIMITS)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) >> 10
    assert verdict.status == "failed" and verdict.score < verdict.max_score, verdict
    checks = {check.name: check.status for check in verdict.checks}
    if lost in ("cost", "peak memory") and checks.get(lost) == "not_run":
        pytest.skip(next(check.message for check in verdict.checks if check.name == lost))
    assert checks[lost] == "failed", verdict
    assert grown < 300 and time.process_time() - seconds < 30
    shown = verdict_text(verdict.as_json())
    assert not set(shown) & set("\x1b\x07\r")


@pytest.mark.parametrize("how", ["error", "stop", "numbers"])
def test_the_reference_of_an_earlier_exercise_is_not_told(how):
    """It is in the box of the second attempt, with the answer that uses it: what comes out of there is not shown."""
    split, heads = registry.find("attention.split_heads"), registry.find("attention.multi_head")
    answered = {split: "def split_heads(x, heads): return x", heads: f"HOW = {how!r}\n{text('earlier_reference_told')}"}
    cells = [
        new_code_cell(source, metadata={"tfkit": {"role": "exercise", "exercise": one.id}})
        for one, source in answered.items()
    ]
    (verdict,) = run.grade_notebook(new_notebook(cells=cells), [heads], backend=choose(), limits=LIMITS)
    assert (verdict.status, verdict.score) == ("failed", 0.0)
    assert "parameter names and shapes" in {check.name for check in verdict.checks if check.status == "passed"}
    shown = str(verdict.as_json())
    numbers = "".join(chr(int(float(one))) for one in re.findall(r"\b\d{2,3}(?:\.0)?\b", shown))
    assert "x.shape" not in shown and "batch" not in numbers, shown


def own(name: str, *, locked: bool) -> float:
    """The score of an instructor's test whose notebook has this answer, and the comparison's import in another cell."""
    judge = "import torch\nfrom torch.testing import assert_close"
    cells = [new_code_cell(judge, id="setup", metadata={"nbgrader": {"locked": locked}, "tfkit": {"role": "setup"}}),
             new_code_cell(text(name), id="answer", metadata={"tfkit": {"role": "exercise", "released": judge}}),
             new_code_cell(OWN_TEST, id="test", metadata={"tfkit": {"role": "check"}})]  # fmt: skip
    found = own_tests.grade(new_notebook(cells=cells), {"test": 1.0}, {"test": "test"}, choose(), LIMITS)
    return found["test"].score


@pytest.mark.parametrize("name", ["own_test_mutated_inputs", "own_test_import_swap"])
def test_an_instructors_own_test_is_not_paid(name):
    assert own(name, locked=True) == own(name, locked=False) == 0.0


def test_the_page_fetches_nothing_and_nothing_is_covered():
    tree = ast.parse(text("css_beacon_and_cover"))
    html = next(node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and "<div" in str(node.value))
    shown = wrap_in_box(html)
    assert "evil" not in shown and "tfkit-verdict" not in shown and "3000" not in shown and "5000" not in shown
    assert "passed" in shown and shown.startswith(PAPER) and 'style="contain:content;overflow:auto' in PAPER


def test_reading_takes_a_moment():
    place = HERE / "notebook_50k_outputs.py"
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    nb = new_notebook(cells=[new_code_cell("", id="solution-rnn-cell")])
    module.forge(nb, lambda name: nb.cells[0])
    handed_in, started = writes(nb), time.process_time()
    assert len(submission.parse(handed_in).cells[0].outputs) == submission.OUTPUTS
    assert time.process_time() - started < 5
