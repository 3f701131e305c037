"""Writes verdicts into nbgrader's gradebook."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades

from autograder.feedback.text import reasons
from autograder.nbgrader.late import extension
from autograder.nbgrader.timestamps import timestamp_fault


class SaveVerdicts(SaveAutoGrades):
    """Adds a third outcome to SaveAutoGrades: `not_graded` has no automatic score and needs manual grading.

    waiting: the verdicts of this outcome in the notebook.
    """

    waiting: list[dict[str, Any]]

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """As in the parent class; also stores the student's extension, which the next step needs for the penalty."""
        self.waiting = []
        nb, resources = super().preprocess(nb, resources)
        if self.waiting:
            self.log.warning("%s needs grading by hand: %s", self.student_id, reasons(self.waiting))
        where = resources["nbgrader"]
        hours = extension(self, where["assignment"], where["student"])
        with Gradebook(where["db_url"]) as gradebook:
            if timestamp_fault(resources["metadata"]["path"]):  # an earlier attempt's time says nothing of this one
                gradebook.update_or_create_submission(where["assignment"], where["student"], timestamp=None)
            if hours is not None:
                gradebook.grant_extension(where["assignment"], where["student"], hours=hours)
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        verdict = (cell.metadata.get("tfkit") or {}).get("verdict")
        if verdict is None or verdict["status"] != "not_graded":
            super()._add_score(cell, resources)
            return
        where = (self.notebook_id, self.assignment_id, self.student_id)
        name = cell.metadata.nbgrader["grade_id"]
        grade = self.gradebook.find_grade(name, *where)
        grade.auto_score = None
        grade.needs_manual_grade = True
        self.gradebook.db.commit()
        self.waiting.append(verdict)
