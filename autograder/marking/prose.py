"""Renders Markdown that a person wrote as HTML: sanitised like the feedback pages, with formulas as MathML."""

from __future__ import annotations

import html
import re

from autograder.nbgrader.feedback import LONGEST, FeedbackExporter

HEADING = re.compile(r"<(/?)h[1-6]\b[^>]*>")
TITLE = re.compile(r"\A#+ [^\n]*\n+")


class Prose:
    """Renders Markdown; headings become bold paragraphs, since the page has headings of its own."""

    def __init__(self) -> None:
        self._exporter = FeedbackExporter(exclude_anchor_links=True)

    def html(self, text: str) -> str:
        """The text as sanitised HTML; a text of more than LONGEST characters is shown as plain text."""
        if not text:
            return ""
        if len(text) > LONGEST:  # highlighting takes quadratic time for some texts
            return f"<pre>{html.escape(text)}</pre>"
        return HEADING.sub(_paragraph, self._exporter.markdown2html({}, text))

    def without_title(self, text: str) -> str:
        """The same without the heading at the start of the text."""
        return self.html(TITLE.sub("", text))


def _paragraph(found: re.Match[str]) -> str:
    return "</strong></p>" if found[1] else "<p><strong>"
