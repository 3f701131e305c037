"""The checks of an assignment for other graders: a workflow for GitHub Classroom, an autograder for Gradescope.

Both install this package and call it, so that there is one engine. They install a wheel that is part of the recipe, or
a URL that pip understands: `package` names it, or else the source of this installation is used.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.api import HINTS
from autograder.cluster.course import BadCourse, released_in, settings_of
from autograder.cluster.scores import ExportError
from autograder.exercises import registry
from autograder.feedback.files import write_new
from autograder.nbgrader.feedback import ShowVerdicts
from tfkit_course import NAME, origin

WORKFLOW = ".github/workflows/classroom.yml"
WHEELS = ".github/grader"  # where the wheel lies in the repository
EPOCH = (1980, 1, 1, 0, 0, 0)  # fixed date in the archive, so that the same recipe has the same bytes
HEAD = """\
# Grades {assignment}. In GitHub Classroom choose no tests of its own: it reads the reporter's result.
name: Autograding
on: [push, repository_dispatch]
permissions: {{checks: write, actions: read, contents: read}}
env:
  TFKIT: "{requirement}"  # a wheel beside this file, or a URL
  TORCH_INDEX: ""  # the index of PyTorch's CPU build, as pytorch.org's installer shows it: a tenth of the download
jobs:
  grade:
    runs-on: ubuntu-latest
    if: github.actor != 'github-classroom[bot]'
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {{python-version: "3.11", cache: pip, cache-dependency-path: "{workflow}"}}
      - name: The grader and its box
        run: |
          sudo apt-get install -y --no-install-recommends bubblewrap
          sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
          if [ -n "$TORCH_INDEX" ]; then pip install torch --index-url "$TORCH_INDEX"; fi
          pip install "$TFKIT"
          cd / && autograder doctor
"""
STEP = """\
      - name: Grade
        id: grade
        run: python -I -m autograder.report.classroom {assignment} {pairs} --hints {hints}
"""
TAIL = """\
      - uses: classroom-resources/autograding-grading-reporter@v1
        env:
{results}
        with: {{runners: "{runners}"}}
"""
SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when the image is built: choose Ubuntu 22.04 or newer, and 2 GB of memory or more.
set -euo pipefail
TORCH_INDEX=${TORCH_INDEX:-}  # the index of PyTorch's CPU build, as pytorch.org's installer shows it
OPT=${OPT:-/opt}
cd "$(dirname "${BASH_SOURCE[0]}")"
apt-get update
apt-get install -y --no-install-recommends bubblewrap python3 python3-venv
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  python3 -m venv "$OPT/grader"
else  # Ubuntu 22.04 has 3.10, and of 3.11 only a release candidate: uv brings a released one along
  python3 -m venv "$OPT/uv"
  "$OPT/uv/bin/pip" install uv
  export UV_PYTHON_INSTALL_DIR=$OPT/python
  "$OPT/uv/bin/uv" python install 3.11
  "$("$OPT/uv/bin/uv" python find --managed-python 3.11)" -m venv "$OPT/grader"
  rm -rf "$OPT/uv"
fi
pip=("$OPT/grader/bin/pip" install --no-cache-dir)
if [ -n "$TORCH_INDEX" ]; then "${pip[@]}" torch --index-url "$TORCH_INDEX"; fi
"${pip[@]}" "REQUIREMENT"
(cd "$OPT"/grader/lib/python3*/site-packages && rm -rf UNNEEDED)
rm -rf /var/lib/apt/lists/*
size=$(du -sm "$OPT" | cut -f 1)
if [ "$size" -gt LARGEST ]; then
  echo "the grader takes $size MB: name the index of PyTorch's CPU build, autograder export --torch-index URL" >&2
  exit 1
fi
"""
# headers, compilers and other projects' tests
UNNEEDED = ("torch/include", "torch/test", "torch/bin/*[Tt]est*", "torch/bin/protoc*", "sympy/*/tests")
LARGEST_MB = 1370  # below /opt, so that with the system an image stays within 1.5 GB; tools/footprint.py adds it up
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission. Where its container allows no box, the autograder fails and says so; with
# --trust students' code runs beside the grader, NOT ISOLATED from it.
cd /
/opt/grader/bin/python -I -m autograder.report.gradescope {assignment} {pairs} --hints {hints} \\
  --submission /autograder/submission --results /autograder/results/results.json
"""


@dataclass(frozen=True)
class CoursePackage:
    """What the other grader installs: a URL, or a wheel that goes with the recipe."""

    requirement: str
    wheel: Path | None = None


def package_of(named: str | None) -> CoursePackage:
    """The package as the instructor named it, a wheel's path or a URL, or else as this copy was installed.

    Raises ExportError if that is a folder or unknown, from which no other machine can install.
    """
    if named and not re.match(r"[a-z+]+://", named):
        return _wheel(Path(named))
    if named:
        return CoursePackage(f"{NAME}[grading] @ {named}")
    came_from = origin()
    url = str(came_from.get("url", ""))
    if "vcs_info" in came_from:
        version = came_from["vcs_info"]
        return CoursePackage(f"{NAME}[grading] @ {version['vcs']}+{url}@{version['commit_id']}")
    if url.startswith("https://"):
        return CoursePackage(f"{NAME}[grading] @ {url}")
    if url.endswith(".whl") and Path(url.removeprefix("file://")).is_file():
        return _wheel(Path(url.removeprefix("file://")))
    raise ExportError(
        f"{NAME} is not on a package index yet, and other machines cannot install this copy of it: name a wheel "
        "(`make wheel` writes dist/*.whl) or a URL, with --package"
    )


def _wheel(path: Path) -> CoursePackage:
    if not path.is_file() or path.suffix != ".whl" or not path.name.startswith(NAME.replace("-", "_") + "-"):
        raise ExportError(f"{path} is not a wheel of {NAME}: `make wheel` writes one to dist/")
    return CoursePackage(f"./{path.name}[grading]", path)


@dataclass(frozen=True)
class GradedExercise:
    """An exercise of an assignment and its points there."""

    exercise: str
    points: float


def graded_exercises(root: Path, assignment: str) -> list[GradedExercise]:
    """The exercises that the released assignment checks, in its order. Raises ExportError if there are none."""
    known = {"check-" + one.id.replace(".", "-"): one.id for one in registry.exercises()}
    try:
        course = settings_of(root.resolve()).coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            released = released_in(gradebook, assignment)
    except BadCourse as error:
        raise ExportError(str(error)) from error
    cells = [cell for one in released.values() for cell in one.cells if cell.grade and cell.name in known]
    if not cells:
        raise ExportError(f"{assignment} has no check of an installed exercise; `autograder list` shows them")
    return [GradedExercise(known[cell.name], cell.points or 0.0) for cell in cells]


def hints_of(root: Path) -> int:
    """The steps of help that the course's students see, `c.ShowVerdicts.hints`.

    Raises ExportError if the course cannot be read.
    """
    try:
        return ShowVerdicts(parent=settings_of(root.resolve())).hints
    except BadCourse as error:
        raise ExportError(str(error)) from error


def workflow(assignment: str, exercises: list[GradedExercise], package: CoursePackage, hints: int = HINTS) -> str:
    """GitHub Classroom's workflow: one step that grades, a score for each exercise."""
    runners = [f"test{n}" for n, _ in enumerate(exercises, 1)]
    pairs = " ".join(f"{one.exercise}={one.points:g}" for one in exercises)
    results = "\n".join(f'          {one.upper()}_RESULTS: "${{{{steps.grade.outputs.{one}}}}}"' for one in runners)
    tail = TAIL.format(results=results, runners=",".join(runners))
    requirement = package.requirement if package.wheel is None else package.requirement.replace("./", f"./{WHEELS}/")
    head = HEAD.format(assignment=assignment, requirement=requirement, workflow=WORKFLOW)
    return head + STEP.format(assignment=assignment, pairs=pairs, hints=hints) + tail


def archive(
    assignment: str, exercises: list[GradedExercise], package: CoursePackage, hints: int = HINTS, torch_index: str = ""
) -> bytes:
    """Gradescope's autograder zip, the wheel in it; `torch_index`: the index from which PyTorch is installed."""
    pairs = " ".join(f"{one.exercise}={one.points:g}" for one in exercises)
    setup = SETUP.replace("REQUIREMENT", package.requirement).replace("LARGEST", str(LARGEST_MB))
    setup = setup.replace("UNNEEDED", " ".join(UNNEEDED))
    setup = setup.replace("TORCH_INDEX:-}", f"TORCH_INDEX:-{torch_index}}}")
    run = RUN.format(assignment=assignment, pairs=pairs, hints=hints)
    files = {"setup.sh": setup.encode(), "run_autograder": run.encode()}
    if package.wheel is not None:
        files[package.wheel.name] = package.wheel.read_bytes()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o755 << 16
            zipped.writestr(entry, content)
    return made.getvalue()


def write(
    root: Path, assignment: str, to: str, output: Path, package: str | None = None, torch_index: str = ""
) -> None:
    """The recipe for `to`: a folder with the workflow in it, or a zip; `output` must be new.

    package: a wheel's path or a URL, for `package_of`; torch_index: a URL, for Gradescope. Raises ExportError.
    """
    if torch_index and not re.fullmatch(r"https?://[\w./~%+:-]+", torch_index):
        raise ExportError(f"--torch-index {torch_index} is not the URL of a package index")
    installed = package_of(package)
    what = graded_exercises(root, assignment), installed, hints_of(root)
    try:
        if to == "github-classroom":
            _write_workflow(output, workflow(assignment, *what), installed)
        else:
            write_new(output, archive(assignment, *what, torch_index))
    except FileExistsError as error:
        raise ExportError(f"{error.filename} exists: name a new file, or delete it") from None
    except OSError as error:
        raise ExportError(f"{output} cannot be written: {error.strerror}") from None


def _write_workflow(output: Path, text: str, package: CoursePackage) -> None:
    (output / WORKFLOW).parent.mkdir(parents=True, exist_ok=True)
    write_new(output / WORKFLOW, text)
    if package.wheel is not None:
        (output / WHEELS).mkdir(parents=True, exist_ok=True)
        (output / WHEELS / package.wheel.name).write_bytes(package.wheel.read_bytes())
