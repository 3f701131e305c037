"""What people see of a verdict: an HTML fragment, and a line of text."""

from autograder.report.html import verdict_html
from autograder.report.text import verdict_line

__all__ = ["verdict_html", "verdict_line"]
