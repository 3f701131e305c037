"""Progress output of grading: a line for each graded student, a progress bar with the time left, and the totals."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from autograder.cluster.job import GradingRecord
from autograder.feedback.text import one_line, reasons

MAX_NAMES = 4  # students named next to the progress bar


class ProgressScreen:
    """The progress of one round. Use it in a `with` statement."""

    def __init__(self, console: Console, total: int, done: int) -> None:
        self.console, self.graded, self.full, self.manual, self.renamed = console, 0, 0, 0, 0
        self.failures: dict[str, str] = {}
        self._under_way: dict[str, None] = {}
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(), TextColumn("[dim]{task.fields[names]}"),
            console=console, transient=True, auto_refresh=console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("grading", total=total, completed=done, names="")

    def __enter__(self) -> ProgressScreen:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def print_line(self, text: str) -> None:
        """Print a line above the progress bar."""
        self.console.print(f"  {text}", style="yellow", markup=False)

    def mark_sent(self, student: str) -> None:
        """Show that the submission was sent to a worker."""
        self._under_way[student] = None
        self._names()

    def mark_graded(self, record: GradingRecord) -> None:
        """Show that the submission is graded."""
        verdicts = record.verdicts
        score, most = (sum(verdict[name] for verdict in verdicts) for name in ("score", "max_score"))
        ungraded = any(verdict["status"] == "not_graded" for verdict in verdicts)
        full = bool(verdicts) and not record.missing and score == most
        self.graded, self.full = self.graded + 1, self.full + full
        self.manual += ungraded or bool(record.missing)
        self.renamed += any(".ipynb" in found.partition("(found: ")[2] for found in record.missing.values())
        unknown = not record.missing and (ungraded or not verdicts)
        sign = "[green]✓[/]" if full else "[yellow]?[/]" if unknown else "[red]✗[/]"
        student, why = escape(f"{one_line(record.key.student):16}"), escape(_why(record))
        self.console.print(f"{sign} {student} {score:g}/{most:g}  [dim]{record.seconds:5.1f} s[/]  {why}")
        for note in record.notes:
            self.console.print(f"{one_line(record.key.student)}: {one_line(note)}", style="yellow", markup=False)
        self._advance(record.key.student)

    def mark_failed(self, student: str, error: str) -> None:
        """Show that there is no record; the next `--resume` tries again."""
        self.failures[student] = error
        self.console.print(f"[yellow]! {escape(f'{one_line(student):16}')} {escape(one_line(error))}[/]")
        self._advance(student)

    def summary(self, assignment: str) -> None:
        """Print the totals of this run."""
        seconds = time.monotonic() - self._started
        rate = f", {60 * self.graded / seconds:.0f} a minute" if self.graded and seconds > 0 else ""
        manual = f", {self.manual} need manual grading" if self.manual else ""
        self.console.print(
            f"{self.graded} graded in {seconds:.0f} s{rate}: {self.full} with full marks{manual}", markup=False
        )
        if self.renamed:
            self.console.print(f"{self.renamed} with a notebook under another name: --take-renamed renames it where it "
                               "is the only one", style="yellow")  # fmt: skip
        if self.failures:
            self.console.print(f"{len(self.failures)} could not be graded; --resume tries them again", style="yellow")
        elif self.graded:
            name = escape(assignment)
            commands = f"nbgrader generate_feedback {name} && nbgrader release_feedback {name}"
            self.console.print(f"[dim]feedback: {commands}[/]", soft_wrap=True)  # one line, to be copied

    def _advance(self, student: str) -> None:
        self._under_way.pop(student, None)
        self._bar.advance(self._task)
        self._names()

    def _names(self) -> None:
        self._bar.update(self._task, names=_short(self._under_way))


def _why(record: GradingRecord) -> str:
    others = [verdict for verdict in record.verdicts if verdict["notebook"] not in record.missing]
    return "  ".join(filter(None, [*map(one_line, record.missing.values()), reasons(others)]))


def _short(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return escape(", ".join(names[:MAX_NAMES]) + more)
