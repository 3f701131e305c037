"""`autograder similarity --operations`: who computes alike is found, however it is written; no forged trace harms."""

from __future__ import annotations

import json
from dataclasses import replace

import nbformat
import pytest

from autograder.cli import main
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.report import operations, similar_page
from autograder.report.similar import compare

from ..cluster.conftest import course as course
from ..cluster.conftest import released_class as released_class
from ..nbgrader.conftest import UNIT, find
from .test_class_report import Found

ROLE = {"role": "exercise"}
STYLES = {  # student → right answers of the collection
    "ada": ("compared_positions", "reshaped", "minus_infinity"),
    "ben": ("lower_triangle", "unsqueezed", "exponentials_by_hand"),
    "chen": ("row_by_row", "row_by_row", "nan_replaced_by_zero"),
    "dot": ("lower_triangle", "new_axes", "lowest_number_then_zero"),
}
REWRITTEN = {  # what ada computes, so that no text shows it
    "masks.padding": """
def padding_mask(words, empty):
    found = torch.ne(words, empty)
    return found.view(len(words), 1, 1, -1)
""",
    "masks.softmax": """
def nothing(which):
    return torch.all(which, -1, True)

def masked_softmax(numbers, allowed):
    away = allowed.bitwise_not()
    zero = nothing(away)
    numbers = torch.masked_fill(numbers, away, -torch.inf)
    numbers = torch.nn.functional.softmax(torch.masked_fill(numbers, zero, 0), -1)
    return torch.masked_fill(numbers, zero, 0)
""",
}
FORGED = """
import torch.utils._python_dispatch as there

class Told(list):
    def clear(self):
        pass

class Mode:
    def __init_subclass__(cls):
        cls.names = Told(["<b>", 3, "aten.\\ud800.x", "aten.nope.default", "aten.add.Tensor"] * 900)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass

there.TorchDispatchMode = Mode
"""


def graded(root, student, written, *more):
    """The student's notebook as it is after grading. `written`: exercise → answer."""
    nb = nbformat.read(root / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
    for exercise, answer in written.items():
        cell = find(nb, f"solution-{exercise.replace('.', '-')}")
        cell.source, cell.metadata["tfkit"] = answer, ROLE
    nb.cells += [nbformat.v4.new_code_cell(source) for source in more]
    path = root / "autograded" / student / UNIT / f"{UNIT}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(nb))
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in nb.cells if cell.metadata.get("tfkit") == ROLE}


def right(names):
    exercises = [registry.find(name) for name in ("masks.causal", "masks.padding", "masks.softmax")]
    found = {one.id: {path.stem: path.read_text() for path in answers(one, "right")} for one in exercises}
    return {one.id: found[one.id][name] for one, name in zip(exercises, names, strict=True)}


def test_who_computes_alike_is_found_where_no_text_shows_it(course):
    written = {name: graded(course.root, name, right(styles)) for name, styles in STYLES.items()}
    written["eve"] = graded(course.root, "eve", REWRITTEN)
    graded(course.root, "fox", right(STYLES["ada"]), FORGED)
    graded(course.root, "gil", right(STYLES["ada"]), "import os\nos._exit(0)")
    traces = operations.read(course.root, UNIT)
    assert {name for trace in traces.pop("fox").values() for name in trace} == {"aten.add.Tensor"}
    assert traces.pop("gil") == {}
    assert "aten._softmax.default" in traces["eve"]["solution-masks-softmax"]
    (pair,) = operations.matching_pairs(traces)
    assert pair.students == ("ada", "eve")
    assert {match.cell for match in pair.matches} == {"solution-masks-padding", "solution-masks-softmax"}
    assert compare(written, {}).pairs == []
    text = similar_page.page(UNIT, written, compare(written, {}), [pair])
    page = Found()
    page.feed(text)
    assert not page.open and '<a href="#run-1">ada and eve</a>' in text and 'id="run-1"' in text
    assert "<code>solution-masks-softmax</code>: the same operations" in text


def test_one_answer_a_short_one_or_what_many_have_is_no_finding():
    odd, other, short = ("aten.add.Tensor",) * 5, ("aten.mul.Tensor",) * 5, ("aten.add.Tensor",) * 4
    rest = {name: {"one": other, "two": other} for name in "cdef"}
    found = operations.matching_pairs({"a": {"one": odd, "two": odd}, "b": {"one": odd, "two": odd}, **rest})
    assert [pair.students for pair in found] == [("a", "b")]
    assert found[0].evidence == pytest.approx(2 * 1.0986, abs=1e-3)  # ln 3 each: two of six have it
    assert operations.matching_pairs({"a": {"one": odd, "two": odd}, "b": {"one": odd, "two": short}, **rest}) == []
    assert operations.matching_pairs({"a": {"one": odd, "two": short}, "b": {"one": odd, "two": short}, **rest}) == []


def test_a_check_that_stumbles_over_an_answer_has_none():
    class Box:
        def limit_answer(self, size):
            self.allowed = size

        def call(self, name):
            return ["aten.add.Tensor"] if name == operations.NAMES[1] else None

    whole = operations.Probe(lambda subject: 1, None)
    assert operations._performed_operations(Box(), whole) == ["aten.add.Tensor"]
    assert operations._performed_operations(Box(), replace(whole, ask=lambda subject: {}["shape"])) == []


def test_the_command_runs_the_answers(course, tmp_path):
    graded(course.root, "ada", right(STYLES["ada"]))
    page = tmp_path / "similar.html"
    with pytest.raises(SystemExit) as end:
        main(["similarity", str(course.root), UNIT, "--operations", "-o", str(page)])
    assert end.value.code == 0
    assert "<h2>The same operations</h2><p>None.</p>" in page.read_text(encoding="utf-8")
