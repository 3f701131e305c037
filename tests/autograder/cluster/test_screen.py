"""What a round prints: a line for each student, whole in a log, and the commands that bring feedback to students."""

from __future__ import annotations

import io

from rich.console import Console

from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from autograder.cluster.screen import ProgressScreen
from autograder.console import output
from autograder.feedback.text import reasons

UNREADABLE = (
    "Your notebook could not be read: it is not a Jupyter notebook (Expecting value: line 1 column 1 (char 0))."
)


def verdict(exercise, status="failed", why="", misconception=None, score=0.0):
    return {"notebook": "03-heads", "exercise": exercise, "status": status, "reason": why,
            "misconception": misconception, "score": score, "max_score": 1.0}  # fmt: skip


def line_of(verdicts, missing=(), width=20_000):
    """What the screen prints about a student, and the screen."""
    text = io.StringIO()
    screen = ProgressScreen(Console(file=text, width=width), total=1, done=0)
    record = GradingRecord(Key("ada", "03-heads", "", ""), {}, verdicts, 1.0, "here:1", dict(missing))
    screen.mark_graded(record)
    return text.getvalue().rstrip("\n"), screen


def test_a_reason_is_given_whole_and_once():
    line, _ = line_of([verdict(name, why=UNREADABLE) for name in ("a.b", "a.c", "a.d")])
    assert line.endswith(f"  {UNREADABLE}") and line.count("Jupyter") == 1 and "a.b" not in line
    mixed = [verdict("a.b", why=UNREADABLE), verdict("a.c", "passed"), verdict("a.d", why=UNREADABLE),
             verdict("a.e", misconception="divided_by_d"), verdict("a.f")]  # fmt: skip
    assert reasons(mixed) == f"a.b, a.d: {UNREADABLE}  a.e: divided_by_d  a.f"


def test_without_verdicts_or_notebook_there_are_no_full_marks():
    found = {"03-heads": "no notebook 03-heads.ipynb (found: 03-heads (1).ipynb)"}
    for verdicts, missing, sign, counts in (
        ([verdict("a.b", "passed", score=1.0)], {}, "✓", (1, 0)),
        ([verdict("a.b", "not_graded")], {}, "?", (0, 1)),
        ([], {}, "?", (0, 0)),
        ([verdict("a.b", "not_graded", found["03-heads"])], found, "✗", (0, 1)),
        ([], found, "✗", (0, 1)),
    ):
        line, screen = line_of(verdicts, missing)
        assert line.startswith(sign) and (screen.full, screen.manual) == counts
        assert line.count("no notebook 03-heads.ipynb") == len(missing)


def test_a_line_in_a_log_is_whole_and_a_terminals_own_width_counts(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    words = "word " * 400 + "end"
    output.make_console().print(words)
    assert capsys.readouterr().out == f"{words}\n"
    monkeypatch.setenv("COLUMNS", "40")
    output.make_console().print(words)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40


def test_the_summary_names_both_commands_of_the_feedback_on_one_line():
    text = io.StringIO()
    screen = ProgressScreen(Console(file=text, width=40), total=1, done=0)
    screen.graded = 1
    screen.summary("03-heads")
    line = "feedback: nbgrader generate_feedback 03-heads && nbgrader release_feedback 03-heads"
    assert line in text.getvalue().splitlines()
