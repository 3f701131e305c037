"""`python -m tfkit_lab.export`: what a notebook holds is on the page, and none of it runs there."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tfkit_lab.export import InvalidPage, export, parts_of, renew, run_command
from tfkit_lab.views import view_of
from tfkit_lab.widgets import MIME

GOLDEN = Path(__file__).parent / "golden" / "pictures"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def shown(**data):
    """The HTML of a cell with one output; names of MIME types with `_` for the slash."""
    output = new_output("display_data", data={name.replace("_", "/"): value for name, value in data.items()})
    return next(parts_of(new_code_cell("", outputs=[output])))[0]


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)><p onclick=alert(3)>kept</p>"


@pytest.mark.parametrize("mime", ["text_html", "text_markdown"])
def test_no_script_of_an_output_reaches_the_page(mime):
    assert "alert" not in shown(**{mime: HOSTILE}) and "kept" in shown(**{mime: HOSTILE})


def test_no_script_of_markdown_reaches_the_page_and_the_policy_names_the_only_one():
    page = export(new_notebook(cells=[new_markdown_cell(f"# Title\n\n{HOSTILE}\n\n$x < y$")]))
    assert "alert" not in page and "kept" in page and "<math" in page
    policy = re.search(r"script-src (.*?);", page)[1]
    script = re.search(r'<script type="module">(.*?)</script>', page, re.S)[1]
    assert policy == f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}' data:"


def test_pictures_and_tables_are_on_the_page():
    assert f'src="data:image/png;base64,{PNG}"' in shown(image_png=PNG + "\n", text_plain="<Figure>")
    assert 'src="data:image/svg+xml;base64,' in shown(**{"image_svg+xml": "<svg onload=alert(1)></svg>"})
    table = '<table class="dataframe"><tbody><tr><td>1</td></tr></tbody></table>'
    assert table in shown(text_html=table, text_plain="0 1")
    attached = new_markdown_cell("![a dot](attachment:dot.png)", attachments={"dot.png": {"image/png": PNG}})
    assert f'src="data:image/png;base64,{PNG}"' in next(parts_of(attached))[0]


def test_a_traceback_has_no_codes_of_a_terminal():
    error = new_output("error", ename="E", evalue="", traceback=["\x1b[0;31mE\x1b[0m: a < b"])
    assert next(parts_of(new_code_cell("", outputs=[error])))[0] == '<pre class="output">E: a &lt; b</pre>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory"),
        ("no JSON", "not a notebook ("),
        ("[1]", "not a notebook"),
        ("{}", "not a n"),
    ],
)
def test_a_file_that_is_no_notebook_is_one_line(content, message, tmp_path, capsys):
    source = tmp_path / "lesson.ipynb"
    if content is not None:
        source.write_text(content)
    with pytest.raises(SystemExit) as error:
        run_command([str(source), str(tmp_path / "page.html")])
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.value.code == 2 and message in said and str(source) in said
    assert not (tmp_path / "page.html").exists()


def test_a_page_brings_what_lets_its_phrases_point_and_no_other_page_does():
    def exported(source):
        return export(new_notebook(cells=[new_markdown_cell(source)]))

    pointing = exported("[row 2](#show:rows=2) of the mask")
    assert 'href="#show:rows=2"' in pointing and '"/points": "' in pointing
    assert '"/points": "' not in exported("[row 2](#rows) of the mask")


def test_a_page_is_written_anew_with_the_present_views_and_all_else_as_it_was(monkeypatch, tmp_path):
    views = [{"trace": json.loads((GOLDEN / f"{kind}.json").read_text())} for kind in ("lens", "heads")]
    outputs = [new_output("display_data", {MIME: view}) for view in views]
    texts = [new_markdown_cell("# A < B"), new_code_cell("x", outputs=outputs), new_markdown_cell("The end")]
    exported = export(new_notebook(cells=texts))
    assert renew(exported) == exported and "A &lt; B" in exported and "The end" in exported
    (tmp_path / "lens.js").write_text("// another one")
    monkeypatch.setattr(view_of("lens"), "script", tmp_path / "lens.js")
    changed = renew(exported)
    assert base64.b64encode(b"// another one").decode() in changed and changed != exported
    assert renew(changed) == changed
    with pytest.raises(InvalidPage, match="not a page that tfkit_lab.export has written"):
        renew("<title>Another</title>")
