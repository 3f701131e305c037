"""A course folder whose answers wait for a person: a gradebook, a task in words, an exercise in code, two requests."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from autograder.cluster.course import settings_of
from autograder.nbgrader import config

UNIT = "06-training"
CODE, TASK = "check-masks-causal", "task-too-good"
QUESTION = """## Too good a loss

The loss of your language model falls to **0.01** within a minute. Say in two or three sentences

- what has most likely gone wrong, and
- which few lines of code would show it."""
SCHEME = """

### BEGIN MARK SCHEME
- 1 point: the targets are visible: no causal mask, or targets that were not shifted.
- 1 point: a test that would show it, such as changing a later token.
- Not enough: "overfitting" without saying how one would see it.
### END MARK SCHEME"""
SEES = "The model **sees the next token**, because the causal mask is missing, so it only copies it. {}"
TEXTS = {
    "ada": SEES.format("Change token $x_{t+1}$ and see whether the logits at $t$ change: `(a - b).abs().max() == 0`."),
    "ben": SEES.format("Changing a later token must not change earlier logits."),
    "chen": SEES.format("One could print the mask."),
    "dora": "Overfitting. The data set is too small and the model learns it by heart.",
    "emil": "It is overfitting, the model has learnt the small data set by heart.",
    "fay": "The targets were not shifted: each position predicts *itself*.\n\n1. `inputs[0, :5]`\n2. `targets[0, :5]`",
    "gus": "",
}  # fmt: skip
RIGHT = "def causal_mask(n):\n    return torch.ones(n, n).tril().bool()"
WRONG = "def causal_mask(n):\n    return torch.ones(n, n).tril(-1).bool()"


def _cell(kind: str, source: str, name: str = "", **tfkit: object) -> nbformat.NotebookNode:
    cell = (nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell)(source)
    cell.metadata = {"nbgrader": {"grade_id": name}} if name else {}
    cell.metadata |= {"tfkit": tfkit} if tfkit else {}
    return cell


def _notebook(text: str, code: str, is_right: bool, scheme: str = "") -> nbformat.NotebookNode:
    verdict = {"exercise": "masks.causal", "status": "passed" if is_right else "failed", "score": 2.0 * is_right}
    verdict |= {"max_score": 2.0, "misconception": None if is_right else "own_position_hidden", "reason": None}
    verdict["checks"] = [
        {"name": name, "status": "passed" if passes else "failed", "points": 1.0 * passes, "of": 1.0, "message": ""}
        for name, passes in (("shapes and types", True), ("values", is_right))
    ]
    cells = [
        _cell("code", code, "solution-masks-causal"),
        _cell("code", "check()", CODE, role="check", verdict=verdict),
        _cell("markdown", QUESTION + scheme, TASK, role="task"),
        _cell("markdown", text),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def marked(course: Path) -> None:
    """Makes the course in this folder."""
    course.mkdir(parents=True)
    config.install(course)
    settings_of(course)  # puts alembic, which a new gradebook calls, on the path
    source = course / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(_notebook("Your answer.", RIGHT, True, SCHEME), source)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "tfkit") as gradebook:
        gradebook.add_assignment(UNIT)
        gradebook.add_notebook(UNIT, UNIT)
        gradebook.add_grade_cell(CODE, UNIT, UNIT, max_score=2, cell_type="code")
        gradebook.add_solution_cell("solution-masks-causal", UNIT, UNIT)
        gradebook.add_task_cell(TASK, UNIT, UNIT, max_score=2, cell_type="markdown")
        for number, (student, text) in enumerate(TEXTS.items()):
            is_right = number % 3 != 2
            gradebook.add_student(student)
            gradebook.add_submission(UNIT, student)
            grade = gradebook.find_grade(CODE, UNIT, UNIT, student)
            grade.auto_score, grade.needs_manual_grade = 2.0 * is_right, False
            gradebook.find_grade(TASK, UNIT, UNIT, student).needs_manual_grade = True
            path = course / "autograded" / student / UNIT / f"{UNIT}.ipynb"
            path.parent.mkdir(parents=True)
            nbformat.write(_notebook(text, RIGHT if is_right else WRONG, is_right), path)
        gradebook.db.commit()
    inbound = course / "exchange" / "tfkit" / "inbound"
    inbound.mkdir(parents=True)
    why = "My mask hides the own position on purpose: the target there is the token itself."
    for student, cell, reason in (("chen", CODE, why), ("fay", CODE, "It ran on my machine.")):
        folder = inbound / f"{student}+{UNIT}.regrade+2026-10-12 18:00:00 UTC+x"
        folder.mkdir()
        (folder / "request.json").write_text(json.dumps({"notebook": UNIT, "cell": cell, "reason": reason}))


def live(shared: Path) -> None:
    """What the servers of a class put into the shared folder during the last quarter of an hour."""
    now = datetime.now(UTC)
    class_ = {
        "ada": {"masks.causal": ("passed", 0), "masks.softmax": ("passed", 0)},
        "ben": {"masks.causal": ("failed", 6), "masks.softmax": ("failed", 1)},
        "chen": {"masks.causal": ("failed", 4)},
        "dora": {"masks.causal": ("failed", 2)},
        "emil": {"masks.causal": ("passed", 0), "masks.softmax": ("failed", 5)},
        "fay": {"masks.causal": ("passed", 0)},
    }
    why = {"masks.causal": "own_position_hidden", "masks.softmax": "masked_before_exp"}
    for student, outcomes in class_.items():
        exercises = {
            name: {
                "status": status,
                "failed": failed,
                "misconception": why[name] if failed else None,
                "since": (now - timedelta(minutes=4 * failed)).isoformat(),
                "at": now.isoformat(),
            }
            for name, (status, failed) in outcomes.items()
        }
        path = shared / f"{student}.0123456789abcdef.progress.json"
        path.write_text(json.dumps({"student": student, "exercises": exercises}))
