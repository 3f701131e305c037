"""Pages that show submissions: nbgrader's own templates with readable verdicts and without active content.

nbgrader keeps the raw HTML of markdown cells and outputs. Instructors open the feedback, and each submission in the
formgrader, on the server's own origin: a script in it would act with their rights and could change marks.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import ClearMarkScheme, NbGraderPreprocessor
from nbgrader.utils import is_task
from pygments.formatters import HtmlFormatter
from traitlets import Integer

from autograder.api import HINTS
from autograder.feedback.formulas import render_formulas
from autograder.feedback.html import verdict_html
from autograder.feedback.sanitize import sanitize_html
from autograder.feedback.tokens import light_theme_tokens, page_tokens
from autograder.nbgrader.rebuild import UNGRADED_ROLES

# MIME types that may be shown, best first; text/html is cleaned, an svg becomes an <img>, which runs no scripts
MIMES = ("text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg", "text/plain")
# Characters: longer texts, and those after that many on a page, are shown as plain text. The time to highlight some
# texts grows with the square of their length, and one student must not delay the feedback of the class.
LONGEST, PAGE = 10_000, 150_000
ATTACHED = 10 << 20  # characters of pictures on a page, each as often as the text may name it
# A student's text or output is drawn inside such an element; the browser clips whatever would reach beyond it
BOX = '<div style="contain:content;overflow:auto{}">'
PAPER = '<div class="tfkit-paper" style="contain:content;overflow:auto;max-height:80em">'
FORMGRADER_STYLE = (
    ".anchor-link{display:none}"
    "@media print{.highlight pre{white-space:pre-wrap;overflow-wrap:anywhere}}"  # nobody can scroll there
)
DARK_CODE = "github-dark"  # of Pygments
VIEWPORT = (
    '<meta name="viewport" content="width=device-width, initial-scale=1">'  # else a phone draws it 980 pixels wide
)


# nbgrader declares this setting of nbconvert's anew without saying that it is one, so each step of a page would warn of
# the value that every exporter of HTML sets
NbGraderPreprocessor.display_data_priority.tag(config=True)


def wrap_in_box(html: str) -> str:
    """A student's HTML, cleaned, in an element that clips it."""
    return f"{PAPER}{sanitize_html(html)}</div>"


class SafePage(NbGraderPreprocessor):
    """Prepares a page: verdicts come from the graded record, other outputs are cleaned, widget state is dropped."""

    hints = Integer(
        HINTS,
        min=0,
        max=HINTS,
        help="how much help to show: 1 the concept, 2 the observed behaviour, 3 the smallest counter-example",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Also drops notebook metadata (widget state) that nbconvert writes into script elements."""
        nb.metadata.pop("widgets", None)
        self._text, self._attached = PAGE, ATTACHED
        self._style = self.style()
        for cell in nb.cells:
            cell.metadata.pop("tags", None)
            if cell.cell_type == "code":
                self._code(cell)
            plain = cell.cell_type != "raw" and not (self._short(cell.source) and self._pictures(cell))
            if plain:
                cell.update({"cell_type": "code", "outputs": cell.get("outputs", []), "execution_count": None})
            if cell.cell_type == "code":  # the language to highlight; IPython's rules are the slowest by far
                cell.metadata.magics_language = "text" if plain else "python3"
        return nb, resources

    def style(self) -> str:
        """What the page's verdicts bring for the page; the formgrader's own styles are white in every theme."""
        return f"<style>{light_theme_tokens('.tfkit-verdict')}{FORMGRADER_STYLE}</style>"

    def _short(self, text: str) -> bool:
        """Whether this text is short enough to be drawn with its markup."""
        if len(text) > min(LONGEST, self._text):
            return False
        self._text -= len(text)
        return True

    def _pictures(self, cell: NotebookNode) -> bool:
        """Whether the cell's attached pictures are still within the limit."""
        size = cell.source.count("attachment:") * len(str(cell.get("attachments", "")))
        if size > self._attached:
            return False
        self._attached -= size
        return True

    def _code(self, cell: NotebookNode) -> None:
        tfkit = cell.metadata.get("tfkit") or {}
        if "verdict" in tfkit:
            data = {"text/html": self._style + verdict_html(tfkit["verdict"], self.hints), "text/plain": ""}
            self._style = ""  # once per page
            cell.outputs = [new_output("display_data", data=data)]
            return
        cell.outputs = [safe for output in cell.outputs if (safe := self._safe(output))]
        if tfkit.get("role") in UNGRADED_ROLES and cell.outputs:
            note = '<div style="font-size:85%;opacity:0.75">As submitted; this cell is not graded.</div>'
            cell.outputs.insert(0, new_output("display_data", data={"text/html": note, "text/plain": ""}))

    def _safe(self, output: NotebookNode) -> NotebookNode | None:
        """The output with the MIME types that a page may show, or None when nothing is left."""
        if output.output_type not in ("display_data", "execute_result"):
            return output  # streams and tracebacks are escaped by the template
        data = {mime: _joined(output.data[mime]) for mime in MIMES if mime in output.data}
        for mime in ("text/html", "text/markdown"):
            if mime in data and not self._short(data[mime]):
                data = {"text/plain": data[mime]}
        if "text/html" in data:
            data["text/html"] = wrap_in_box(data["text/html"])
        return new_output("display_data", data=data) if data else None


class ShowVerdicts(SafePage):
    """Prepares the feedback, also without the mark scheme, since a copy of it would soon reach the next class."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Removes mark schemes first, so that their length does not count, then does as the parent."""
        for cell in nb.cells:
            if cell.cell_type != "code" and is_task(cell):
                ClearMarkScheme(parent=self).preprocess_cell(cell, resources, 0)
        return super().preprocess(nb, resources)

    def style(self) -> str:
        """Nothing: the page has all of it in its head, from FeedbackExporter."""
        return ""


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text)


PHRASE = re.compile(r'<a href="#show:[^>]*>(.*?)</a>', re.S)  # one that points, as no script here makes it do


class FeedbackExporter(HTMLExporter):
    """nbgrader's template with cleaned markdown. The rendered HTML is cleaned, not the source: `a < b` and quotes stay.

    Formulas are drawn here instead of by MathJax, which the template would fetch, so the page needs no network.
    It follows the reader's system, light or dark, and fits a phone.
    """

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **how: Any) -> tuple[Any, dict[str, Any]]:
        """The page with our styles at the end of its head, where they follow those of the template."""
        page, resources = super().from_notebook_node(nb, resources, **how)
        return page.replace("</head>", f"{VIEWPORT}<style>{page_style()}</style></head>", 1), resources

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """The template's filter for markdown cells, markdown outputs and comments."""
        try:
            shown = render_formulas(PHRASE.sub(r"\1", sanitize_html(super().markdown2html(context, source))))
        except RecursionError:  # one text that is nested too deeply must not cost the page
            shown = f"<pre>{escape(source)}</pre>"
        return f"{BOX.format('')}{shown}</div>"


@cache
def page_style() -> str:
    """The tokens, the colours of code in the dark, and what `feedback.css` says of nbgrader's page."""
    dark = HtmlFormatter(style=DARK_CODE).get_style_defs(":root .highlight")
    plain = ":root .highlight span{color:inherit;background:none;border:0}"  # what DARK_CODE says nothing of
    own = Path(__file__).with_name("feedback.css").read_text(encoding="utf-8")
    return f"{page_tokens()}@media screen and (prefers-color-scheme:dark){{{plain}{dark}}}{own}"


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """The same for pages whose exporter cannot be configured, such as the formgrader's."""
    return FeedbackExporter().markdown2html(context, source)
