"""Markdown that a person wrote, as HTML that a page can show: cleaned as feedback pages are, with formulas drawn."""

from __future__ import annotations

import html
import re

from autograder.nbgrader.feedback import LONGEST, FeedbackExporter

HEADING = re.compile(r"<(/?)h[1-6]\b[^>]*>")
TITLE = re.compile(r"\A#+ [^\n]*\n+")


class Prose:
    """Renders texts; headings become bold paragraphs, since the page has headings of its own."""

    def __init__(self) -> None:
        self._exporter = FeedbackExporter(exclude_anchor_links=True)

    def html(self, text: str) -> str:
        """The text's HTML without scripts; a text of more than LONGEST characters as it was written."""
        if not text:
            return ""
        if len(text) > LONGEST:  # highlighting some texts takes a time that grows with the square of their length
            return f"<pre>{html.escape(text)}</pre>"
        return HEADING.sub(_paragraph, self._exporter.markdown2html({}, text))

    def without_title(self, text: str) -> str:
        """The same without the heading that the text begins with."""
        return self.html(TITLE.sub("", text))


def _paragraph(found: re.Match[str]) -> str:
    return "</strong></p>" if found[1] else "<p><strong>"
