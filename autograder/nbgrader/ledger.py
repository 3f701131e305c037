"""What a submission is worth: the checks' marks and people's, less the late penalty, computed when it is asked for.

nbgrader stores the penalty while it grades, from the marks that there are at that moment. What a person gives later in
the formgrader would be free of it. So exports, passback, report, feedback and regrade ask here; the stored penalty,
which the formgrader shows, is brought up to date by `autograder grade`.
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
        """After the penalty, not below zero: as nbgrader reports it."""
        return max(0.0, self.raw - self.penalty)


class Ledger:
    """The totals under the late policy that the configuration of `parent` names (`c.AssignLatePenalties`)."""

    def __init__(self, parent: Configurable) -> None:
        self._parent = parent
        self._step = AssignLatePenalties(parent=parent)
        self._step.init_plugin()

    def seconds_late(self, submission: SubmittedAssignment) -> float:
        """How late it was, with the extension that the configuration names, else the one in the gradebook."""
        due = submission.assignment.duedate
        if due is None or submission.timestamp is None:
            return 0.0
        hours = extension(self._parent, submission.assignment.name, submission.student.id)
        more = submission.extension if hours is None else timedelta(hours=hours)
        return max(0.0, (submission.timestamp - due - (more or timedelta())).total_seconds())

    def penalty(self, notebook: SubmittedNotebook) -> float | None:
        """What lateness takes off all of the notebook's present marks; None where the policy takes nothing."""
        late = self.seconds_late(notebook.assignment)
        if late <= 0:
            return None
        score = float(notebook.score)
        found = self._step.plugin_inst.late_submission_penalty(notebook.assignment.student.id, score, late)
        return None if found is None else min(max(float(found), 0.0), score)

    def total(self, submission: SubmittedAssignment) -> Total:
        """Under the policy as it is now."""
        penalties = (self.penalty(notebook) or 0.0 for notebook in submission.notebooks)
        return Total(sum(float(notebook.score) for notebook in submission.notebooks), sum(penalties))


def stored_total(submission: SubmittedAssignment) -> Total:
    """The total that the formgrader shows: with the penalty of the time at which it was graded."""
    penalties = (float(notebook.late_submission_penalty or 0) for notebook in submission.notebooks)
    return Total(sum(float(notebook.score) for notebook in submission.notebooks), sum(penalties))


class GetGrades(preprocessors.GetGrades):
    """nbgrader's step before a feedback page, with the penalty of the ledger."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """As the parent's; score and late_penalty of the page are the ledger's."""
        nb, resources = super().preprocess(nb, resources)
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            found = gradebook.find_submission_notebook(where["notebook"], where["assignment"], where["student"])
            penalty = Ledger(self).penalty(found) or 0.0
            where |= {"score": float(found.score) - penalty, "late_penalty": penalty}
        return nb, resources
