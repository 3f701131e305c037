"""The totals of a round end with the commands that bring its feedback to students."""

from __future__ import annotations

import io

from rich.console import Console

from autograder.cluster.screen import ProgressScreen


def test_the_summary_names_both_commands_of_the_feedback_on_one_line():
    text = io.StringIO()
    screen = ProgressScreen(Console(file=text, width=40), total=1, done=0)
    screen.graded = 1
    screen.summary("03-heads")
    line = "feedback: nbgrader generate_feedback 03-heads && nbgrader release_feedback 03-heads"
    assert line in text.getvalue().splitlines()
