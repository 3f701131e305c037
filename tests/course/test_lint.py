"""The course keeps its own rules, and a cell that breaks one is named."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import course
from course import glossary, lint
from course.notebook import source_notebook
from course.settings import unit_names


def notebook(*cells):
    """A unit of these cells: (text) is prose, {code} is a demo."""
    made = []
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, set):
            made.append(new_code_cell(*cell, id=f"c{number}", metadata={"tfkit": {"role": "demo"}}))
        else:
            made.append(new_markdown_cell(cell, id=f"c{number}"))
    return new_notebook(cells=made, metadata={"tfkit": {"unit": "02-masks"}})


def faults(*cells):
    """Those of a unit of these cells, which says all the words of its glossary besides."""
    words = " ".join(term.word for term in glossary.terms() if term.unit == "02-masks")
    made = notebook(*cells, words)
    plt = "import matplotlib.pyplot as plt"
    made.cells.insert(0, new_code_cell(plt, id="c0", metadata={"tfkit": {"role": "demo"}}))
    return lint.faults(made)


DRAW = {"plt.plot([1])\nplt.show()"}
HELPER = {"def draw(x):\n    plt.plot(x)\n    plt.show()\n\ndef both(x):\n    draw(x), draw(x)"}
WORDS = "*Figure: a line.*"


def test_the_course_breaks_no_rule_and_the_table_adds_up(tmp_path, capsys):
    assert lint.main([str(tmp_path)]) == 0, capsys.readouterr().out
    out = capsys.readouterr().out
    notebooks = [nbformat.read(path, as_version=4) for path in tmp_path.glob("source/*/*.ipynb")]
    assert len(notebooks) == len(course.units())
    marks = [cell.metadata.get("nbgrader", {}) for notebook in notebooks for cell in notebook.cells]
    questions = [mark["points"] for mark in marks if mark.get("task")]
    projects = [mark["points"] for mark in marks if mark.get("grade") and mark.get("solution")]
    points = sum(exercise.points for exercise in course.exercises()) + sum(questions) + sum(projects)
    assert all(name in out for name in unit_names())
    total = next(line for line in out.splitlines() if line.startswith("│ all"))
    assert [cell.strip() for cell in total.split("│")][2:5] == [
        str(len(course.exercises())), str(len(questions)), f"{points:g}"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "cells, cell, what",
    [
        ([{"x = (1"}], "c1", "does not parse"),
        ([{"y = x + 1"}], "c1", "x is defined in no earlier cell"),
        ([{"y = x + 1"}, {"x = 1"}], "c1", "x is defined in no earlier cell"),
        ([{"def f():\n    return [x + y for y in z]"}, {"x = 1"}], "c1", "z is defined in no earlier cell"),
        ([{"x = 1\n" * 40}], "c1", "40 lines"),
        (["word\n" * 70], "c1", "70 rows"),
        (["see [above](#No-such)"], "c1", "not a heading"),
        (["see [03](../03-many/03-many.ipynb)"], "c1", "released with the notebooks"),
        (["![a cat](cat.png)"], "c1", "released with the notebooks"),
        (["[here](file:///etc/motd)"], "c1", "file: link"),
        (["[here](https://)"], "c1", "no host"),
        (["[arXiv:1706.03762](https://arxiv.org/abs/1706.03763)"], "c1", "not the paper"),
        (["![](https://example.org/a.png)"], "c1", "no alternative text"),
        (['<img src="https://example.org/a.png" alt="">'], "c1", "no alternative text"),
        ([DRAW], "c1", "*Figure"),
        ([DRAW, WORDS, DRAW], "c3", "*Figure"),
        ([DRAW, DRAW, WORDS], "c1", "*Figure"),
        ([HELPER, {"both([1])"}, WORDS, {"both([2])"}], "c4", "*Figure"),
        ([DRAW, f"{WORDS}\n\n**Predict.** What next?\n\n{WORDS}", DRAW, WORDS], "c2", "below its figure"),
        ([f"**Predict.** How steep?\n\n{WORDS}", HELPER], "c1", "below its figure"),
        (["[row](#show:row=1)"], "c1", "none of rows, cols"),
        (["[row](#show:rows=one)"], "c1", "no numbers"),
        (["[half](#show:part=half)"], "c1", "none of future"),
        (["[map](#show:map=first)"], "c1", "the first is 0"),
        (["[it](#show:in=text&rows=1)"], "c1", "not table"),
        (["[it](#show:in=table)"], "c1", "does not say what"),
        (["## A\n\n[line](#show:code=tril)", "## B", {"tril = 1"}], "c1", "no cell of its section has"),
        (["## A\n\n[row](#show:rows=1)", {"x = 1"}], "c1", "no cell of its section draws one"),
        (["as in `masks.causal/no_such_error`"], "c1", "not in the corpus"),
        (["as in `masks.nothing/no_such_error`"], "c1", "not in the corpus"),
    ],
)
def test_a_broken_rule_is_named_with_its_cell(cells, cell, what):
    (fault,) = faults(*cells)
    assert fault.cell == cell and what in fault.summary
    assert str(fault).startswith(f"02-masks, cell {cell}: ") and "\n" not in str(fault)


@pytest.mark.parametrize(
    "cells",
    [
        [{"%time x = 1\n!ls"}],
        [{"def f():\n    global n\n    n = len(x)"}, {"x = [y for y in range(3)]\nf()\nprint(n)"}],
        ["## A `good` heading", "[up](#A-good-heading), [next](../03-heads/03-heads.ipynb)"],
        ["[arXiv:1706.03762](https://arxiv.org/abs/1706.03762), `x[0](1)` and $a[i](b)$"],
        ["![a cat](https://example.org/a.png)"],
        ["## A", {"tril = 1"}, "[line](#show:code=tril)\n\n## B", "[above](#show:in=table&cols=-1&rows=0..2,4)"],
        [HELPER, {"both([1])"}, WORDS, DRAW, {"x = 1"}, f"**So.**\n\n{WORDS}"],
        ["as in `masks.causal/own_position_hidden`, not `tfkit.nn/masks`"],
    ],
)
def test_what_is_in_order_is_left_alone(cells):
    assert faults(*cells) == []


CAPSTONE = "17-capstone"  # it shows no figure and brings in no word: what it asks for was taught before


def test_each_lesson_loses_its_figures_words_at_its_peril():
    for folder in (folder for folder in course.units() if folder.name != CAPSTONE):
        built = source_notebook(folder)
        before = list(lint.undescribed_figures(built))
        for cell in built.cells:
            if cell.cell_type == "markdown":
                cell.source = cell.source.replace("*Figure", "*Drawing")
        assert before == [] and len(list(lint.undescribed_figures(built))) >= 2, folder.name


def test_a_word_that_the_lesson_does_not_say_is_named():
    (fault,) = lint.faults(notebook("padding, a causal mask, NaN, a vocabulary"))
    assert str(fault) == "02-masks, cell glossary: 'broadcast' is in glossary.toml, but the lesson never uses it"


def test_each_unit_ends_with_its_words_and_points_there():
    for folder in (folder for folder in course.units() if folder.name != CAPSTONE):
        first, *_, last = source_notebook(folder).cells
        assert last.id == "glossary" and last.source.startswith("## Glossary\n\n- **")
        assert first.source.endswith("[glossary](#Glossary) at the end.")
        own = [term for term in glossary.terms() if term.unit == folder.name]
        assert len(own) >= 4 and all(f"- **{term.word}**: {term.means}" in last.source for term in own)
        assert ("From earlier units: " in last.source) == (folder.name > "02")


def test_a_word_is_found_in_all_its_forms_and_nowhere_else():
    (term,) = [term for term in glossary.terms() if term.word == "key"]
    assert term.is_in("Keys and values") and term.is_in("a `key`, too")
    assert not term.is_in("a monkey") and not term.is_in("keyboard")
