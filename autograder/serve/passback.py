"""Totals for the LMS while `autograder serve` grades."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from autograder.cluster import scores
from autograder.serve import course as served
from autograder.serve.course import ServedCourse


@dataclass
class PassbackState:
    """What is known of an assignment's totals at the LMS: for which count of graded submissions all were sent."""

    graded: int = -1  # below every count, because an earlier service may have left totals unsent
    retry_at: float = 0.0
    failed: bool = False


class Passback:
    """Sends totals at the start, after new grades, and a minute after an error; passback.jsonl has what was sent."""

    def __init__(self, console: Console) -> None:
        self.console, self._states = console, dict[tuple[Path, str], PassbackState]()

    def has_failed(self) -> bool:
        """Whether the totals of an assignment could not all be sent at the last attempt."""
        return any(state.failed for state in self._states.values())

    def send_due(self, course: ServedCourse) -> None:
        """Send the totals of the course's assignments that have new grades, and report errors on the console."""
        for assignment, progress in course.progress.items():
            state = self._states.setdefault((course.root, assignment), PassbackState())
            if state.graded != progress.graded and state.retry_at <= time.monotonic():
                self._send(course, assignment, state)

    def _send(self, course: ServedCourse, assignment: str, state: PassbackState) -> None:
        from autograder.report import lti  # not everybody has installed the extra `lti`

        graded = course.progress[assignment].graded
        try:
            done = lti.send(course.root, scores.read(course.root, assignment))
        except scores.NoScores:
            state.graded, state.failed = graded, False
        except scores.ExportError as error:
            state.retry_at, state.failed = time.monotonic() + served.RETRY_S, True
            self.console.print(f"! {course.course_id}: {error}", style="yellow", markup=False)
        else:
            state.graded, state.failed = graded, False
            self.console.print(f"{assignment}: the LMS took {len(done.sent)} scores", markup=False)
