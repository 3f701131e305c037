"""What the tests of the marking page know of their course, and a look into its gradebook."""

from nbgrader.api import Gradebook

from autograder.marking.store import MarkedCell

UNIT = "02-masks"
TASK = MarkedCell(UNIT, UNIT, "task-why")
CODE = MarkedCell(UNIT, UNIT, "check-masks-causal")
SCHEME = (
    "- 1 point: it sees the next word.\n- 0.5 points: a test of a few lines.\n- Not enough: overfitting.\n- Related: x."
)
TEXTS = {"ada": "It sees the next word and copies it.", "ben": "It copies the next word, which it sees.", "chen": ""}
ASKED = "Your answer."


def grade(root, student, of=TASK):
    """Score, whether it waits, and the comment."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "tfkit") as gradebook:
        found = gradebook.find_grade(of.cell, UNIT, UNIT, student)
        commented = of.cell if of is TASK else "solution-masks-causal"
        said = gradebook.find_comment(commented, UNIT, UNIT, student).manual_comment
        return found.score, found.needs_manual_grade, said


def give_elsewhere(root, student, score, comment=None):
    """A mark as the formgrader gives it."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "tfkit") as gradebook:
        found = gradebook.find_grade(TASK.cell, UNIT, UNIT, student)
        found.manual_score, found.needs_manual_grade = score, False
        gradebook.find_comment(TASK.cell, UNIT, UNIT, student).manual_comment = comment
        gradebook.db.commit()
