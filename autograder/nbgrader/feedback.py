"""The feedback page: nbgrader's own template, with verdicts to read and nothing in it that a student could run.

nbgrader keeps raw HTML of markdown cells and of outputs. The page is opened by instructors, in the formgrader, on the
server's own address: a script in it acts with their rights.
"""

from __future__ import annotations

import re
from typing import Any

import bleach
from bleach.css_sanitizer import CSSSanitizer
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.nbgrader.rebuild import SHOWN_ONLY
from autograder.report import verdict_html

# what an output may bring, best first; text/html is cleaned, an svg becomes an <img>, in which scripts do not run
MIMES = ("text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg", "text/plain")
TAGS = frozenset(
    """a abbr b blockquote br code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img
    kbd li ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr
    svg g rect circle ellipse line path polyline polygon text tspan title desc""".split()  # noqa: SIM905
)
DRAWING = frozenset(
    """viewBox width height x y x1 y1 x2 y2 cx cy r rx ry d points transform fill fill-opacity stroke stroke-width
    stroke-opacity stroke-dasharray opacity text-anchor dominant-baseline font-size font-family font-weight dx dy
    role""".split()  # noqa: SIM905
)
COMMON = ["class", "id", "title", "style", "colspan", "rowspan", "align", "aria-label", "start"]
STYLES = frozenset(
    """align-items background-color border border-bottom border-collapse border-left border-radius border-right
    border-spacing border-top color column-gap display fill flex flex-direction flex-wrap font-family font-size
    font-style font-weight gap grid-template-columns height justify-content line-height list-style margin margin-bottom
    margin-left margin-right margin-top max-width min-width opacity overflow overflow-x padding padding-bottom
    padding-left padding-right padding-top stroke stroke-width text-align text-anchor text-decoration vertical-align
    white-space width word-break""".split()  # noqa: SIM905
)
PICTURES = ("data:image/png", "data:image/jpeg", "data:image/gif", "data:image/svg+xml")


SCRIPT = re.compile(r"<(script|style)\b.*?</\1\s*>", re.I | re.S)  # for tidiness; bleach would leave their text


def clean(html: str) -> str:
    """`html` without scripts, frames, handlers, forms, foreign addresses in styles; what is not allowed is dropped."""
    return bleach.clean(
        SCRIPT.sub("", html),
        tags=TAGS,
        attributes=_allowed,
        css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES, allowed_svg_properties=[]),
        protocols=["http", "https", "mailto", "data", "attachment"],
        strip=True,
    )


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and value.startswith(PICTURES)
    if name == "href":
        return tag == "a" and value.startswith(("http://", "https://", "mailto:", "#"))
    return name in COMMON or name in DRAWING or (tag == "img" and name == "alt")


class ShowVerdicts(NbGraderPreprocessor):
    """Before the page is drawn: verdicts from the graded record, other outputs cleaned, no hidden tests, no state."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Also drops notebook metadata (widget state) that nbconvert writes into script elements."""
        nb.metadata.pop("widgets", None)
        for cell in nb.cells:
            if cell.cell_type == "code":
                self._code(cell)
            cell.metadata.pop("tags", None)
        return nb, resources

    def _code(self, cell: NotebookNode) -> None:
        ours = cell.metadata.get("tfkit") or {}
        if "verdict" in ours:
            data = {"text/html": verdict_html(ours["verdict"]), "text/plain": ""}
            cell.outputs = [new_output("display_data", data=data)]
            return
        cell.outputs = [safe for output in cell.outputs if (safe := safe_output(output))]
        if ours.get("role") in SHOWN_ONLY and cell.outputs:
            note = '<div style="font-size:85%;opacity:0.75">As handed in; this cell is not graded.</div>'
            cell.outputs.insert(0, new_output("display_data", data={"text/html": note, "text/plain": ""}))


def safe_output(output: NotebookNode) -> NotebookNode | None:
    """The output with the MIME types that a page may show, or None when nothing is left."""
    if output.output_type not in ("display_data", "execute_result"):
        return output  # streams and tracebacks are escaped by the template
    data = {mime: output.data[mime] for mime in MIMES if mime in output.data}
    if not data:
        return None
    if "text/html" in data:
        data["text/html"] = clean(_joined(data["text/html"]))
    return new_output("display_data", data=data)


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text)


class FeedbackExporter(HTMLExporter):
    """nbgrader's feedback template; what markdown renders to is cleaned (not its source: `a < b` and quotes stay)."""

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """The template's filter for markdown cells, markdown outputs and comments."""
        return clean(super().markdown2html(context, source))
