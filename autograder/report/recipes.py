"""The checks of an assignment for other graders: a workflow for GitHub Classroom, an autograder for Gradescope.

Both call this package, so that there is one engine; what is written here only tells them how.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from autograder import registry
from autograder.cluster.course import BadCourse, released_in, settings_of
from autograder.report.scores import NoExport

WORKFLOW = ".github/workflows/classroom.yml"
EPOCH = (1980, 1, 1, 0, 0, 0)  # in the archive, so that the same recipe has the same bytes
HEAD = """\
# Grades {assignment}. In GitHub Classroom choose no tests of its own: it reads the reporter's result.
name: Autograding
on: [push, repository_dispatch]
permissions: {{checks: write, actions: read, contents: read}}
env:
  TFKIT: "tfkit[grading]"  # what pip installs; or git+https://… of the course's own copy
jobs:
  grade:
    runs-on: ubuntu-latest
    if: github.actor != 'github-classroom[bot]'
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {{python-version: "3.11"}}
      - name: The grader and its box
        run: |
          sudo apt-get install -y --no-install-recommends bubblewrap
          sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
          pip install "$TFKIT" pytest
          cd / && autograder doctor
"""
STEP = """\
      - name: {exercise}
        id: test{number}
        uses: classroom-resources/autograding-command-grader@v1
        with:
          test-name: {exercise}
          command: pytest -q --noconftest -c /dev/null --tfkit-exercise {exercise} {assignment}.ipynb
          timeout: 10
          max-score: {points:g}
"""
TAIL = """\
      - uses: classroom-resources/autograding-grading-reporter@v1
        env:
{results}
        with: {{runners: "{runners}"}}
"""
SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when the image is built.
set -euo pipefail
apt-get update && apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python3 -m venv /opt/grader
/opt/grader/bin/pip install "${TFKIT:-tfkit[grading]}"  # or git+https://… of the course's own copy
"""
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission. Where its container allows no box, the autograder fails and says so; with
# --trust students' code runs beside the grader, NOT ISOLATED from it.
cd /
/opt/grader/bin/python -I -m autograder.report.gradescope {assignment} {pairs} \\
  --submission /autograder/submission --results /autograder/results/results.json
"""


@dataclass(frozen=True)
class Asked:
    """An exercise of an assignment and what it is worth there."""

    exercise: str
    points: float


def asked(root: Path, assignment: str) -> list[Asked]:
    """The exercises that the released assignment checks, in its order. Raises NoExport."""
    known = {"check-" + one.id.replace(".", "-"): one.id for one in registry.exercises()}
    try:
        course = settings_of(root.resolve()).coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            released = released_in(gradebook, assignment)
    except BadCourse as error:
        raise NoExport(str(error)) from error
    cells = [cell for one in released.values() for cell in one.cells if cell.grade and cell.name in known]
    if not cells:
        raise NoExport(f"{assignment} has no check of an installed exercise; `autograder list` shows them")
    return [Asked(known[cell.name], cell.points or 0.0) for cell in cells]


def workflow(assignment: str, exercises: list[Asked]) -> str:
    """GitHub Classroom's workflow: a step and a score for each exercise."""
    numbered = list(enumerate(exercises, 1))
    steps = [STEP.format(number=n, exercise=one.exercise, points=one.points, assignment=assignment)
             for n, one in numbered]  # fmt: skip
    results = "\n".join(f'          TEST{n}_RESULTS: "${{{{steps.test{n}.outputs.result}}}}"' for n, _ in numbered)
    tail = TAIL.format(results=results, runners=",".join(f"test{n}" for n, _ in numbered))
    return HEAD.format(assignment=assignment) + "".join(steps) + tail


def archive(assignment: str, exercises: list[Asked]) -> bytes:
    """Gradescope's autograder zip."""
    pairs = " ".join(f"{one.exercise}={one.points:g}" for one in exercises)
    files = {"setup.sh": SETUP, "run_autograder": RUN.format(assignment=assignment, pairs=pairs)}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o755 << 16
            zipped.writestr(entry, text)
    return made.getvalue()


def write(root: Path, assignment: str, to: str, output: Path) -> None:
    """The recipe for `to`: a folder with the workflow in it, or a zip; `output` must be new. Raises NoExport."""
    exercises = asked(root, assignment)
    try:
        if to == "github-classroom":
            (output / WORKFLOW).parent.mkdir(parents=True, exist_ok=True)
            with (output / WORKFLOW).open("x", encoding="utf-8") as file:
                file.write(workflow(assignment, exercises))
        else:
            with output.open("xb") as zipped:
                zipped.write(archive(assignment, exercises))
    except FileExistsError as error:
        raise NoExport(f"{error.filename} exists: name a new file, or delete it") from None
    except OSError as error:
        raise NoExport(f"{output} cannot be written: {error.strerror}") from None
