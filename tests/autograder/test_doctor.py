"""What `autograder doctor` says of this machine."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

from autograder import doctor
from tfkit_course import install


def test_a_missing_package_is_told_with_the_command_that_installs_our_extra_of_it(monkeypatch):
    def nowhere(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", nowhere)
    assert doctor._version("nbgrader") == f"missing: {install('grading')}" and "[grading" in install("grading")
    assert doctor._version("tfkit-course") == f"missing: {install()}"
