"""`pytest --tfkit-exercise attention.multi_head student.py`: each check of the exercise is a test of that file.

The file is graded as by `autograder check`: pytest never imports it, and the verdict is formed outside the box.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from autograder.api import HINTS, CheckResult, Exercise, Verdict, with_hints
from autograder.exercises import registry


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this plugin."""
    group = parser.getgroup("tfkit")
    group.addoption("--tfkit-exercise", metavar="ID", help="grade the given files against this exercise")
    group.addoption("--tfkit-hints", type=int, choices=range(HINTS + 1), default=HINTS, metavar="N",
                    help="help to show: 1 the concept, 2 also the symptoms, 3 also the counter-example")  # fmt: skip
    group.addoption("--tfkit-trust", action="store_true", help="if there is no sandbox, run the code without isolation")


def pytest_configure(config: pytest.Config) -> None:
    """Ends the run for an unknown exercise, and names the most similar one."""
    if config.getoption("tfkit_exercise"):
        try:
            registry.find(config.getoption("tfkit_exercise"))
        except (registry.UnknownExercise, registry.TwoExercises) as error:
            raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Collect the files named on the command line in place of pytest's own collector, which would import them."""
    found = yield
    wanted = parent.config.getoption("tfkit_exercise")
    if not wanted or not parent.session.isinitpath(file_path) or file_path.suffix not in (".py", ".ipynb"):
        return found
    return [SubmissionFile.from_parent(parent, path=file_path, exercise=registry.find(wanted))]


class NotGraded(Exception):
    """There is no verdict, for a reason that is not in the student's code."""


class CheckFailure(Exception):
    """The check failed; the message is the check's own."""


class SubmissionFile(pytest.File):
    """A student's file, graded once, when its first test runs."""

    def __init__(self, *, exercise: Exercise, **kw: Any) -> None:
        super().__init__(**kw)
        self.exercise = exercise

    def collect(self) -> Iterator[CheckItem]:
        """A test for each check."""
        for check in registry.check_function(self.exercise)():
            yield CheckItem.from_parent(self, name=check.name)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the file. Raises NotGraded if there is none."""
        from autograder.console.base import BadInput
        from autograder.grade.file import grade_answer, read
        from autograder.sandbox import SandboxError, choose

        try:
            backend = choose(trust=self.config.getoption("tfkit_trust"))
            return grade_answer(self.exercise, self.path, read(self.path), backend)
        except SandboxError as error:
            raise NotGraded(f"{error} (--tfkit-trust)") from error
        except BadInput as error:
            raise NotGraded(str(error)) from error


class CheckItem(pytest.Item):
    """One check of the exercise."""

    parent: SubmissionFile

    def runtest(self) -> None:
        """Raise CheckFailure if the check failed, and NotGraded if there is no verdict."""
        verdict = self.parent.verdict
        if verdict.status == "not_graded":
            raise NotGraded(verdict.reason)
        result = {check.name: check for check in verdict.checks}.get(self.name)
        if result is None:  # there was nothing to check: the name is not defined, or the box ended
            raise CheckFailure(verdict.reason)
        if result.status == "not_run":
            pytest.skip(result.message)
        if result.status != "passed":
            raise CheckFailure(_words(result, verdict, self.config.getoption("tfkit_hints")))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message without the plugin's own traceback."""
        if isinstance(excinfo.value, CheckFailure):
            return str(excinfo.value)
        if isinstance(excinfo.value, NotGraded):
            return f"NOT GRADED: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where pytest says the test is."""
        return self.path, None, f"{self.parent.exercise.id}: {self.name}"


def _words(result: CheckResult, verdict: Verdict, hints: int) -> str:
    shown = with_hints(verdict.as_json(), hints)
    message = next(check["message"] for check in shown["checks"] if check["name"] == result.name)
    return "\n".join(text for text in (message or f"{result.name} failed", shown["hint"]) if text)
