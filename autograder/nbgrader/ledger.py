"""A submission's total: automatic and manual marks less the late penalty, computed whenever it is needed.

nbgrader stores the penalty when it grades, from the marks at that moment, so points that a person adds later in the
formgrader would escape it. So exports, passback, report, feedback and regrade use this module; `autograder grade`
updates the stored penalty, which the formgrader shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from nbformat import NotebookNode
from nbgrader import preprocessors
from nbgrader.api import Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Configurable

from autograder.nbgrader.late import extension


@dataclass(frozen=True)
class Total:
    """A submission's points before the penalty, and the penalty."""

    raw: float = 0.0
    penalty: float = 0.0

    @property
    def points(self) -> float:
        """The points after the penalty, not below zero, as nbgrader reports them."""
        return max(0.0, self.raw - self.penalty)


class Ledger:
    """The totals under the late policy that the configuration of `parent` names (`c.AssignLatePenalties`)."""

    def __init__(self, parent: Configurable) -> None:
        self._parent = parent
        self._step = AssignLatePenalties(parent=parent)
        self._step.init_plugin()

    def seconds_late(self, submission: SubmittedAssignment) -> float:
        """Seconds late after the extension in the configuration, or else the one in the gradebook."""
        due = submission.assignment.duedate
        if due is None or submission.timestamp is None:
            return 0.0
        hours = extension(self._parent, submission.assignment.name, submission.student.id)
        more = submission.extension if hours is None else timedelta(hours=hours)
        return max(0.0, (submission.timestamp - due - (more or timedelta())).total_seconds())

    def penalty(self, notebook: SubmittedNotebook) -> float | None:
        """The penalty on all of the notebook's current marks; None if the policy takes nothing off."""
        late = self.seconds_late(notebook.assignment)
        if late <= 0:
            return None
        score = float(notebook.score)
        found = self._step.plugin_inst.late_submission_penalty(notebook.assignment.student.id, score, late)
        return None if found is None else min(max(float(found), 0.0), score)

    def total(self, submission: SubmittedAssignment) -> Total:
        """The total under the current policy."""
        penalties = (self.penalty(notebook) or 0.0 for notebook in submission.notebooks)
        return Total(sum(float(notebook.score) for notebook in submission.notebooks), sum(penalties))


def stored_total(submission: SubmittedAssignment) -> Total:
    """The total that the formgrader shows, with the penalty stored when it was graded."""
    penalties = (float(notebook.late_submission_penalty or 0) for notebook in submission.notebooks)
    return Total(sum(float(notebook.score) for notebook in submission.notebooks), sum(penalties))


class GetGrades(preprocessors.GetGrades):
    """nbgrader's preprocessor for a feedback page, with the penalty from the ledger."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """As in the parent class, but with the ledger's score and late_penalty."""
        nb, resources = super().preprocess(nb, resources)
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            found = gradebook.find_submission_notebook(where["notebook"], where["assignment"], where["student"])
            penalty = Ledger(self).penalty(found) or 0.0
            where |= {"score": float(found.score) - penalty, "late_penalty": penalty}
        return nb, resources
