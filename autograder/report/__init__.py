"""Presents verdicts as HTML fragments and lines of text, and exports a class's scores and reports."""

from autograder.report.html import verdict_html
from autograder.report.text import verdict_line

__all__ = ["verdict_html", "verdict_line"]
