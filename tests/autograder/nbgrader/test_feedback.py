"""What a student wrote, on the pages that instructors open: it fetches nothing, and stays in its box."""

import logging
import re

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme

from autograder.feedback.sanitize import sanitize_html
from autograder.nbgrader import feedback
from autograder.nbgrader.feedback import PAPER, VIEWPORT, FeedbackExporter, SafePage, page_style, wrap_in_box

FETCHES = [
    "list-style:url(http://evil.test/a)", "list-style: square URL('//evil.test/b')", "fill:url(http://evil.test/c#d)",
    "stroke:url(http://evil.test/e#f)", "background-color:image-set('http://evil.test/g' 1x)", "color:var(--x)",
    "border:1px solid url(//evil.test)", "width:calc(100px)", "font-family:u\\rl(http://evil.test)",
    "color:rgb(1,2,url(//evil.test))", "fill:src('http://evil.test/h')", "background-image:url(//evil.test)",
]  # fmt: skip
LEAVES = [
    "margin-top:-3000px", "margin:0 0 -10px", "height:5000px", "height:100vh", "width:5000%", "position:fixed",
    "overflow:visible", "padding:99999px", "transform:scale(9)", "line-height:99999", "font-size:3000px", "inset:0",
    "margin-left:-1e-5px", "z-index:9", "height:9e9em", "contain:none",
]  # fmt: skip


@pytest.mark.parametrize("style", FETCHES + LEAVES)
def test_a_style_that_fetches_or_leaves_its_box_is_dropped(style):
    html = sanitize_html(f'<div style="{style}; color: red">x</div>')
    assert html == '<div style="color:red">x</div>', html


@pytest.mark.parametrize("name", ["fill", "stroke", "fill-opacity", "transform"])
def test_attributes_of_drawings_fetch_nothing_either(name):
    assert "evil" not in sanitize_html(f'<svg><rect width="3" {name}="url(http://evil.test/a#b)"></rect></svg>')
    assert "evil" not in sanitize_html(f'<svg><rect width="3" {name}="u&#92;72l(http://evil.test/a)"></rect></svg>')
    assert f'{name}="1"' in sanitize_html(f'<svg><rect {name}="1"></rect></svg>')


HARMLESS = [
    "color:rgb(1,2,3)", "background-color:#fff", "border:1px solid rgba(1, 2, 3, 0.5)", "margin:4px 0", "width:50%",
    "font-family:Noto,serif", "grid-template-columns:1fr 2fr", "line-height:1.45", "list-style:square",
    "opacity:0.5", "overflow:auto", "padding:3px 10px 3px 4px", "max-width:60em", "vertical-align:top",
]  # fmt: skip


@pytest.mark.parametrize("style", HARMLESS)
def test_ordinary_styles_stay(style):
    assert f'style="{style}"' in sanitize_html(f'<p style="{style}">x</p>')


@pytest.mark.parametrize("name", ["tfkit-verdict", "modal", "navbar-fixed-top", "highlight tfkit-verdict", "jp-Cell"])
def test_nobody_elses_classes_and_ids(name):
    assert sanitize_html(f'<div class="{name}">x</div>') == "<div>x</div>"
    assert sanitize_html(f'<div id="{name}">x</div>') == "<div>x</div>"


def test_tables_of_pandas_and_highlighted_code_keep_their_classes():
    assert sanitize_html('<table class="dataframe"></table>') == '<table class="dataframe"></table>'
    shown = FeedbackExporter().markdown2html({}, "# Title\n```python\nx = 1\n```\n`a < b` and $x < y$")
    assert 'class="highlight' in shown and 'id="Title"' in shown and "a &lt; b" in shown


def test_all_of_it_stands_in_a_box_that_cuts_off():
    assert wrap_in_box("<p>x</p>") == f"{PAPER}<p>x</p></div>"
    assert FeedbackExporter().markdown2html({}, "x").startswith('<div style="contain:content')
    assert wrap_in_box("</div></div><p>out?</p>").count("</div>") == 1


def test_the_page_follows_the_readers_system():
    cells = [new_markdown_cell("# Title\n`</head>` ends a head"), new_markdown_cell("## </head> in a heading")]
    page, _ = FeedbackExporter().from_notebook_node(new_notebook(cells=cells))
    head, body = page.split("</head>", 1)
    assert head.endswith(f"<style>{page_style()}</style>")
    assert VIEWPORT in head and "tfk-ink" in head and "prefers-color-scheme" not in body
    assert page_style().count("prefers-color-scheme:dark") + page_style().count("prefers-color-scheme: dark") == 5
    assert page_style().count("@media screen and (") == 5  # what is dark on the screen is printed on white paper


def test_a_phrase_that_points_is_plain_text_as_the_page_has_no_script():
    shown = FeedbackExporter().markdown2html({}, "[*row* 2](#show:rows=2&cols=1) and [a link](#title)")
    assert "<em>row</em> 2 and" in shown and "#show" not in shown and 'href="#title"' in shown


def test_a_headings_mark_is_seen_when_it_is_pointed_at_and_never_in_print():
    shown = FeedbackExporter().markdown2html({}, "# Title")
    assert re.search(r'<h1 id="Title">Title<a class="anchor-link" href="#Title">', shown)
    rules, printed = page_style().split("@media print", 1)
    assert (
        ".anchor-link { opacity: 0;" in rules and ":hover > .anchor-link, .anchor-link:focus { opacity: 1; }" in rules
    )
    assert ".anchor-link { display: none; }" in printed
    assert ".anchor-link{display:none}" in SafePage().style()  # the formgrader's pages


def test_no_step_of_a_page_warns_of_nbconverts_own_setting(caplog):
    """A warning for each page said that `display_data_priority` was not recognized by nbgrader's steps."""
    exporter, log = HTMLExporter(), logging.getLogger("traitlets")
    caplog.set_level(logging.WARNING, logger="traitlets")
    log.addHandler(caplog.handler)
    try:
        for step in (feedback.SafePage, feedback.ShowVerdicts, ClearMarkScheme, ClearHiddenTests):
            assert "text/markdown" in step(parent=exporter).display_data_priority
    finally:
        log.removeHandler(caplog.handler)
    assert "not recognized" not in caplog.text
