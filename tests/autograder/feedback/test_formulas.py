"""Formulas are drawn without MathJax: all that the lessons have, and nothing that a formula could smuggle in."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.filters import markdown2html

from autograder.feedback.formulas import ATTRIBUTES, LONGEST, TAGS, mathml, render_formulas, split_at_quads
from autograder.nbgrader.feedback import FeedbackExporter
from course import units
from course.notebook import source_notebook

MATHML = "{http://www.w3.org/1998/Math/MathML}"


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.name)
def test_every_formula_of_the_lessons_is_drawn(unit):
    words = "\n\n".join(cell.source for cell in source_notebook(unit).cells if cell.cell_type == "markdown")
    page = markdown2html(words)
    left = re.sub(r"<(pre|code|math)\b.*?</\1>", "", render_formulas(page), flags=re.S)
    assert "<math" in render_formulas(page)
    assert "$" not in left and "\\" not in left


def test_what_is_drawn():
    assert mathml(r"\frac{a}{b}", "block").startswith('<math display="block"')
    page = render_formulas(r"<p>$a &lt; b$ but <code>$a$</code> and $\unheard{a}$, for $5</p>")
    assert page.count("<math") == 1 and "<mo>&lt;</mo>" in page
    assert page.endswith(r"but <code>$a$</code> and $\unheard{a}$, for $5</p>")


@pytest.mark.parametrize("latex", ["{", r"\unheard{x}", r"\frac{" * 500, "x" * (LONGEST + 1), r"\begin{aligned} x"])
def test_what_cannot_be_read_is_said_and_left(latex):
    with pytest.raises(ValueError):
        mathml(latex)
    assert render_formulas(f"<p>${latex}$</p>") == f"<p>${latex}$</p>"


@pytest.mark.parametrize("quote", ["'", '"'])
def test_attributes_are_no_place_for_formulas(quote):
    page = f"<a title={quote}> $x$ <b {quote} class='y'>$a$</a>"
    assert render_formulas(page) == page.replace("$a$", mathml("a"))


WORDS = st.sampled_from(
    [r"\text{", "}", "{", "<script>", "&lt;", "&quot;", '"', " onclick=", r"\href{javascript:x}", r"\color{red}", "_",
     "^", r"\class{a}", r"\style{b}", r"\sum", "x", r"\\", "&", "<!--", "]]>", r"\left(", r"\right)", r"\mathrm{",
     "</math>"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=12).map("".join))
def test_a_formula_smuggles_nothing_in(latex):
    try:
        element = mathml(latex)
    except ValueError:
        return
    for part in ElementTree.fromstring(element).iter():
        assert part.tag.removeprefix(MATHML) in TAGS
        assert set(part.attrib) <= ATTRIBUTES


def test_the_feedback_page_has_them_drawn_and_stays_clean():
    to_html = FeedbackExporter().markdown2html
    shown = to_html({}, r"$\sqrt{d}$ and $\text{<script>alert(1)</script>}$")
    assert "<msqrt>" in shown and "<script" not in shown


def test_formulas_in_one_line_may_be_put_below_each_other():
    assert split_at_quads(r"a = b, \qquad c = \frac{d}{e} \qquad\qquad f") == ["a = b,", r"c = \frac{d}{e}", "f"]
    together = [
        r"\begin{cases} a & \qquad b \end{cases}", r"\text{if \qquad so}", r"\left( a \qquad b \right)", r"a = b",
        r"\leftarrow \rightarrow",
    ]  # fmt: skip
    assert [split_at_quads(one) for one in together] == [[one] for one in together]
    assert split_at_quads(r"x \leftarrow y \qquad \{a\} \to b") == [r"x \leftarrow y", r"\{a\} \to b"]


def test_formulas_of_the_lessons_stay_valid_when_they_are_parted():
    found = [
        block.replace("\n# ", " ")
        for folder in units()
        for block in re.findall(r"\$\$(.+?)\$\$", (folder / "lesson.py").read_text(encoding="utf-8"), re.S)
    ]
    parted = [split_at_quads(one) for one in found]
    assert sum(len(one) > 1 for one in parted) > 20
    for one in parted:
        assert all(mathml(part, "block") for part in one)
