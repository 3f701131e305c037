"""`autograder similarity`: a copy in other names is found, answers of one's own are not, the page stands alone."""

from __future__ import annotations

import ast
import json

import nbformat
import pytest

from autograder.cli import main
from autograder.report.answers import known_answers as known_answers
from autograder.report.similar import compare, fingerprints, similar_to_known
from autograder.report.similar_page import page as page_of
from course import exercises
from course.mock_class import ALL, STUDENTS, submission

from ..cluster.conftest import course as course
from ..cluster.conftest import released_class as released_class
from ..nbgrader.conftest import UNIT, find
from .test_class_report import Found


class Renamed(ast.NodeTransformer):
    """Other names for all that the code binds, and no comment or annotation: a copy, disguised."""

    def __init__(self, tree):
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = sorted(stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} - {"self"})
        self.names = {name: f"value_{number}" for number, name in enumerate(names)}

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        node.arg, node.annotation = self.names.get(node.arg, node.arg), None
        return node


def disguised(source):
    tree = ast.parse(source)
    return "# all my own work\n" + ast.unparse(Renamed(tree).visit(tree))


def mock_class():
    """The three of the mock class who answer in styles of their own, in all its units; and Zoe, who sat behind Chen."""
    alike = {"decoding.kv_cache"}  # whose collected right answers differ in the type of the cache alone
    own = [exercise for exercise in exercises() if exercise.unit in ALL and exercise.id not in alike]
    answers = {student.name: {e.id: submission(student, e) for e in own} for student in STUDENTS[:3]}
    answers["zoe"] = {name: disguised(source) for name, source in answers["chen"].items()}
    return answers


def test_a_copy_in_other_names_is_found_and_nobody_else():
    answers = mock_class()
    found = compare(answers, {})
    assert [pair.students for pair in found.pairs] == [("chen", "zoe")]
    (copied,) = found.pairs
    assert len(copied.matches) > 0.7 * len(answers["zoe"]) and all(match.share == 1 for match in copied.matches)
    assert found.nearest["ada"] < 0.7 and found.nearest["ben"] < 0.7 and found.nearest["zoe"] == 1
    del answers["zoe"]
    assert compare(answers, {}).pairs == []


LONG = "def f(x, m):\n    scores = x @ x.T\n    scores[~m] = -1e9\n    rows = scores.softmax(1)\n    return rows @ x\n"
OTHER = "def f(x, mask):\n    return torch.einsum('qk,kd->qd', torch.where(mask, x.mm(x.T), -9e9).exp().log1p(), x)\n"


def test_what_was_handed_out_or_all_have_is_no_evidence():
    copies = {"a": {"c": LONG}, "b": {"c": LONG}, **{name: {"c": OTHER + f"z = {name!r}\n"} for name in "defg"}}
    assert [pair.students for pair in compare(copies, {}).pairs] == [("a", "b")]  # four in six are too many to tell
    assert compare(copies, {"c": LONG}).pairs == []
    asked = LONG.replace("scores.softmax(", "F.softmax(scores, ")
    before = fingerprints("import torch.nn.functional as F\n" + asked)
    assert before == fingerprints("from torch.nn import functional as hidden\n" + asked.replace("F.", "hidden."))
    assert before != fingerprints("import numpy as F\n" + asked)


def test_code_that_does_not_parse_is_named():
    answers = {"a": "def f(:", "b": LONG, "d": LONG, "e": OTHER, "f": "x = 1", "g": "x = 2"}
    found = compare({student: {"c": answer} for student, answer in answers.items()}, {"c": "x ="})
    assert found.unreadable == [("a", "c")] and [pair.students for pair in found.pairs] == [("b", "d")]


@pytest.mark.parametrize("code", ["x = " + "-" * 100_000 + "1", "x" + "[0]" * 1500, "x = 1\0", "x = '\ud800'",
                                  "x = 1\n" * 100_000, "x = %y z\n" * 10_000 + "(",
                                  "(\n" + " " * 150_000 + "x"])  # fmt: skip
def test_code_that_is_written_against_the_page_is_named(code):
    found = compare({student: {"c": answer} for student, answer in {"a": code, "b": LONG, "d": LONG}.items()}, {})
    assert found.unreadable == [("a", "c")]


def test_lines_for_ipython_are_no_mistake():
    shell = "%matplotlib inline\n!pip list\nx = !ls\nnames, y = %who_ls\nif x:\n    %time f()\nprint?\n"
    answers = {"a": shell + LONG, "b": LONG, "d": OTHER, "e": "x = 1", "f": "x = 2", "g": "x = 3"}
    found = compare({student: {"c": answer} for student, answer in answers.items()}, {})
    assert not found.unreadable and [pair.students for pair in found.pairs] == [("a", "b")]


def graded(root, student, answer, *more):
    """The student's notebook as it is after grading, with this answer to the first exercise."""
    nb = nbformat.read(root / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
    find(nb, "solution-masks-causal").source = answer
    nb.cells += [nbformat.v4.new_code_cell(source) for source in more]
    path = root / "autograded" / student / UNIT / f"{UNIT}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(nb))


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(["similarity", *map(str, arguments)])
    return end.value.code


def test_the_page_stands_alone(course, tmp_path, capsys):
    page = tmp_path / "similar.html"
    assert run(course.root, UNIT, "-o", page) == 2
    assert "no graded notebook of '02-masks'" in capsys.readouterr().err
    right = LONG.replace("1e9", "1e9  # <b>huge</b>")
    for student, answer in (("ada", right), ("bob", OTHER), ("cleo", "x = (1"), ("eve", disguised(LONG))):
        graded(course.root, student, answer)
    for student in ("f", "g"):
        graded(course.root, student, "y = 2", LONG.replace("x.T", "x.mT").replace("softmax(1)", "softmax(dim=-1)"))
    assert run(course.root, UNIT, "-o", page) == 0
    text = page.read_text(encoding="utf-8")
    found = Found()
    found.feed(text)
    assert not found.open
    assert set(found.loads) <= {"href"} and 'href="http' not in text
    assert '<a href="#pair-1">' in text and ">ada and eve</a>" in text and ">f and g</a>" in text
    assert "cells of their own" in text
    assert '<pre tabindex="0" role="group" aria-label=' in text  # a name needs a role
    assert "<b>" not in text and "&lt;b&gt;huge" in text
    assert "<mark>    scores[~m] = -1e9  # &lt;b&gt;huge&lt;/b&gt;</mark>" in text
    assert "Not compared" in text and "cleo" in text


def test_a_copy_of_the_library_is_a_note_and_answers_of_ones_own_are_none():
    exercise = next(one for one in exercises() if one.id == "attention.multi_head")
    cell = "solution-attention-multi_head"
    known = known_answers({cell})
    assert set(known) == {cell} and "the library's own code" in known[cell] and len(known[cell]) > 2
    copied = known[cell]["the library's own code"]
    other = submission(STUDENTS[0], exercise)
    answers = {"zoe": {cell: disguised(copied)}, "yan": {cell: disguised(copied)}, "ada": {cell: LONG},
               "eve": {cell: "("}}  # fmt: skip
    found = similar_to_known(answers, {cell: {"the library's own code": copied}}, {})
    assert [(one.student, one.name, one.share, one.others) for one in found] == [
        ("yan", "the library's own code", 1.0, 1), ("zoe", "the library's own code", 1.0, 1)]  # fmt: skip
    collected = similar_to_known({"ada": {cell: other}}, known, {})
    assert [one.student for one in collected] == ["ada"] and collected[0].name != "the library's own code"
    assert similar_to_known(answers, {cell: {"ours": copied}}, {cell: copied}) == []  # what was handed out is no copy
    text = page_of("x", answers, compare(answers, {}), None, found)
    assert "Like a known answer" in text and "library&#x27;s own code" in text and "No mark depends on this" in text
    assert "Like a known answer" not in page_of("x", answers, compare(answers, {}), None, [])


def test_short_answers_are_like_each_other_anyhow():
    assert similar_to_known({"a": {"c": LONG}}, {"c": {"ours": LONG}}, {}) == []
