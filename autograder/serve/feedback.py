"""Makes a student's feedback pages with nbgrader's own converters, and releases them to the assignment list."""

from __future__ import annotations

import logging
from pathlib import Path

from nbgrader.converters import GenerateFeedback
from nbgrader.exchange import ExchangeFactory

from autograder.cluster.course import settings_of, working_in
from autograder.feedback.text import one_line


class FeedbackError(Exception):
    """The pages could not be made or released; the message says why."""


def give_feedback(root: Path, assignment: str, student: str) -> None:
    """Generate and release the feedback of one student, replacing any there is.

    Raises FeedbackError or BadCourse if nbgrader fails or the course cannot be read.
    """
    app = settings_of(root)
    app.coursedir.assignment_id, app.coursedir.student_id = assignment, student
    last_error = _LastError(app.log)
    with working_in(root), last_error:
        for make in (
            lambda: GenerateFeedback(coursedir=app.coursedir, parent=app, force=True),
            lambda: ExchangeFactory(parent=app).ReleaseFeedback(coursedir=app.coursedir, parent=app),
        ):
            try:
                make().start()
            except (
                Exception,
                SystemExit,
            ) as error:  # nbgrader's converters call sys.exit; a student's file may do more
                raise FeedbackError(f"{student}: {one_line(last_error.text or str(error))}") from error


class _LastError(logging.Handler):
    """Keeps the last error that nbgrader logged, since its exceptions only refer to the log."""

    def __init__(self, log: logging.Logger) -> None:
        super().__init__(logging.ERROR)
        self.text, self.log = "", log

    def emit(self, record: logging.LogRecord) -> None:
        self.text = record.getMessage().partition("\n")[0]

    def __enter__(self) -> _LastError:
        self.log.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.log.removeHandler(self)
