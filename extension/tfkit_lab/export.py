"""Exports a notebook with views as one offline page: `python -m tfkit_lab.export NOTEBOOK.{ipynb,py} PAGE.html`.

A notebook in jupytext's percent format is run first; an .ipynb is exported with its saved outputs. A page that was
exported earlier is written anew with the present views.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfkit_course.command_line import make_parser
from tfkit_course.small_file import read_small_json, reason
from tfkit_lab.page import page
from tfkit_lab.views import view_of
from tfkit_lab.widgets import MIME

TITLE = re.compile(r"<title>(.*?)</title>", re.S)
MAIN = re.compile(r"<body><main>(.*?)</main>\n<script", re.S)
STATES = re.compile(r'<script type="application/json" id="state">(.*?)</script>', re.S)
PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif")  # best first
Part = tuple[str, dict[str, Any] | None]  # HTML, and the state of its view


def export(notebook: Any) -> str:
    """A notebook (of nbformat) -> the page. Its views can be stepped through; other outputs are shown as pictures, text
    or HTML. Scripts in the notebook's HTML and Markdown, and what would fetch from the network, are left out."""
    parts = [part for cell in notebook.cells for part in parts_of(cell)]
    texts: list[str] = []
    states: list[dict[str, Any]] = []
    words = ""
    for text, state in parts:
        words += text
        if state is not None:
            texts.append(words)
            states.append(state)
            words = ""
    title = next(
        (c.source.splitlines()[0].lstrip("# ") for c in notebook.cells if c.source.startswith("# ")), "Notebook"
    )
    return page(title, states, _scripts(states), [*texts, words])


def renew(exported: str) -> str:
    """An exported page with the present views in place of those of its time. Raises InvalidPage for another page."""
    found = [pattern.search(exported) for pattern in (TITLE, MAIN, STATES)]
    if not all(found):
        raise InvalidPage("not a page that tfkit_lab.export has written")
    title, body, packed = (match[1] for match in found if match)
    states = json.loads(packed)
    texts = re.split(r'<div id="view-\d+"></div>\n?', body)
    return page(html.unescape(title), states, _scripts(states), texts[:-1])


def _scripts(states: list[dict[str, Any]]) -> dict[str, Path]:
    return {kind: view_of(kind).script for kind in sorted({state["trace"]["kind"] for state in states})}


def parts_of(cell: Any) -> Iterator[Part]:
    """A cell's outputs, then its code in a folded block: (HTML, state of a view or None)."""
    if cell.cell_type == "markdown":
        yield _render_markdown(cell.source, cell.get("attachments", {})), None
    elif cell.cell_type == "code":
        yield from (part for output in cell.outputs for part in render_output(output))
        code = f"<pre><code>{html.escape(cell.source)}</code></pre>"
        yield f"<details><summary>Code</summary>{code}</details>", None


def render_output(output: Any) -> Iterator[Part]:
    """One output of a cell, which may be an error: a view, else the richest of HTML, a picture, Markdown and text."""
    data = output.get("data", {})
    if MIME in data:
        yield "", {key: value for key, value in data[MIME].items() if key != "model_id"}
    elif "text/html" in data:
        yield f'<div class="output">{_cleaned(data["text/html"])}</div>', None
    elif picture := next((mime for mime in PICTURES if mime in data), None):
        yield _picture(picture, data[picture], data.get("text/plain", "")), None
    elif markdown := data.get("text/markdown") or data.get("text/latex"):
        yield _render_markdown(markdown), None
    else:
        from nbconvert.filters import strip_ansi

        text = output.get("text") or data.get("text/plain") or "\n".join(output.get("traceback", ()))
        yield f'<pre class="output">{html.escape(strip_ansi(text))}</pre>', None


def _render_markdown(source: str, attachments: Any = None) -> str:
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    from autograder.feedback.formulas import render_formulas

    renderer = IPythonRenderer(escape=False, attachments=attachments or {})
    return render_formulas(_cleaned(MarkdownWithMath(renderer=renderer).render(source)))


def _cleaned(text: str) -> str:
    from autograder.feedback.sanitize import sanitize_html  # imported here, because it loads bleach

    return sanitize_html(text)


def _picture(mime: str, data: str, words: str) -> str:
    """The picture inside the page; an SVG too is an <img>, in which no script runs."""
    packed = base64.b64encode(data.encode()).decode() if mime == "image/svg+xml" else "".join(data.split())
    source = html.escape(f"data:{mime};base64,{packed}")
    return f'<img src="{source}" alt="{html.escape(words)}" style="display:block;max-width:100%">'


EXPORTED_BYTES = 256 << 20  # of a notebook to be exported, with its recorded views


class InvalidNotebook(ValueError):
    """A file that is not a notebook."""


class InvalidPage(ValueError):
    """A page that was not exported here."""


def read_notebook(file: Path) -> Any:
    """The notebook in a file. Raises OSError; InvalidNotebook if it holds something else."""
    import nbformat

    try:
        content = read_small_json(file.resolve(), EXPORTED_BYTES)
        if not isinstance(content, dict) or "cells" not in content:
            raise InvalidNotebook(f"{file}: not a notebook, which is an object with cells")
        return nbformat.reads(json.dumps(content), as_version=4)
    except nbformat.ValidationError as error:
        raise InvalidNotebook(f"{file}: not a notebook ({error.message[:100]})") from None
    except InvalidNotebook:
        raise
    except ValueError as error:
        raise InvalidNotebook(f"{file}: not a notebook (not JSON: {reason(error)})") from None


def main(source: Path, target: Path) -> None:
    """Runs or reads `source`, and writes the page. Raises OSError; InvalidNotebook, or InvalidPage for an .html;
    CellExecutionError if a cell of a .py fails."""
    if source.suffix == ".html":
        _write(target, renew(source.read_text(encoding="utf-8")))
        return
    if source.suffix == ".py":
        import jupytext
        from nbclient import NotebookClient

        notebook = jupytext.read(source)
        NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    else:
        notebook = read_notebook(source)
    _write(target, export(notebook))


def _write(target: Path, text: str) -> None:
    target.write_text(text, encoding="utf-8")
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB")


def run_command(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = make_parser(
        "tfkit_lab.export",
        """
        Export a notebook with its views as one HTML page that works offline: the views can still be stepped through. A
        notebook in jupytext's percent format (.py) is run first; an .ipynb is exported with its saved outputs. A page
        that was exported earlier (.html) is written anew with the present views.
        """,
        exits={0: "the page was written"},
        examples=("python -m tfkit_lab.export lesson.ipynb lesson.html",),
    )
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK.{ipynb,py,html}", help="the notebook to export")
    parser.add_argument("page", type=Path, metavar="PAGE.html", help="the page to write")
    options = parser.parse_args(arguments)
    try:
        main(options.notebook, options.page)
    except (OSError, InvalidNotebook, InvalidPage) as error:
        parser.error(str(error))


if __name__ == "__main__":
    run_command()
