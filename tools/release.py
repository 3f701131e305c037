"""What must hold before a release is built, and of what was built: `python -m tools.release [DIST]`.

Before: nothing is uncommitted, the commit has the tag of its version, every place that names the version names the
same, and the images that the Dockerfile builds on have digests. Afterwards: DIST has one wheel and one sdist of that
version, with what they must hold and nothing that they must not. `make release` runs both; each fault is a line.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from autograder.nbgrader.config import PRIVATE
from tools import images

ROOT = Path(__file__).parents[1]
RECIPE = "packaging/recipe.yaml"
NEEDED = (  # in the wheel
    "tfkit/py.typed", "autograder/py.typed", "course/py.typed", "tfkit_lab/py.typed", "autograder/serve/status.js",
    "course/templates/agents/en.md", "course/units/02-masks/lesson.py", "course/units/02-masks/submissions.zip",
    "tfkit_lab/static/decoding.js", "share/jupyter/labextensions/@tfkit/lab/package.json", "licenses/LICENSE",
)  # fmt: skip
MADE = (".env", ".git", ".venv", "node_modules", "__pycache__")
PACKAGE = "autograder/feedback/"  # code, and its tests, in a folder that is called as a private one of a course
DATA = "tests/data/releases/"  # of the sdist: courses of earlier releases, with submissions of nobody


def is_unpublishable(path: str) -> bool:
    """Whether no release may hold the path: secrets, people's work, what a machine made. A folder's holds for all in
    it; a pattern that begins with a slash is of a course's root, which no release has."""
    patterns = [name for name in PRIVATE if not name.startswith("/")]
    folders = [*MADE, *(name.rstrip("/") for name in patterns if name.endswith("/"))]
    *outer, last = PurePosixPath(f"{path}/".replace(PACKAGE, "", 1)).parts or ("",)
    return bool({*outer, last} & {*folders}) or any(fnmatchcase(last, name) for name in patterns)


def version(root: Path = ROOT) -> str:
    """The version that pyproject.toml names, which is the one place where it is changed."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def faults_before(root: Path = ROOT) -> Iterator[str]:
    """Why no release can be built of this tree."""
    wanted = version(root)
    if changed := _git(root, "status", "--porcelain").splitlines():
        yield f"{len(changed)} files are not committed, such as {changed[0][3:]}: commit or remove them"
    if f"v{wanted}" not in _git(root, "tag", "--points-at", "HEAD").split():
        yield f"this commit has no tag v{wanted}: `git tag -a v{wanted}` (`make wheel` builds without one)"
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(wanted)}\b", changes, re.MULTILINE):
        yield f"CHANGELOG.md has no section for version {wanted}"
    front = json.loads((root / "extension/package.json").read_text(encoding="utf-8"))["version"]
    if front != wanted:
        yield f"extension/package.json has version {front}, and pyproject.toml {wanted}"
    recipe = re.search(r'^  version: "(.+)"$', (root / RECIPE).read_text(encoding="utf-8"), re.MULTILINE)
    if recipe is None or recipe[1] != wanted:
        yield f"{RECIPE} does not have version {wanted}"
    yield from images.faults(root)


def faults_of(dist: Path, wanted: str) -> Iterator[str]:
    """What is wrong with the files in `dist`."""
    stem = f"tfkit_course-{wanted}"
    there = sorted(path.name for path in dist.iterdir() if path.suffix in (".whl", ".gz"))
    if there != (expected := [f"{stem}-py3-none-any.whl", f"{stem}.tar.gz"]):
        yield f"{dist} holds {', '.join(there) or 'nothing'} in place of {' and '.join(expected)}"
        return
    wheel = zipfile.ZipFile(dist / there[0]).namelist()
    yield from (f"{there[0]} lacks {name}" for name in NEEDED if not any(one.endswith(name) for one in wheel))
    with tarfile.open(dist / there[1]) as sdist:
        names = [name.partition("/")[2] for name in sdist.getnames()]
    for place, listed in ((there[0], wheel), (there[1], [name for name in names if not name.startswith(DATA)])):
        yield from (f"{place} holds {name}, which must not be published" for name in listed if is_unpublishable(name))


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout


def main(arguments: list[str]) -> int:
    """1 with a line for each fault, else 0."""
    if arguments and not Path(arguments[0]).is_dir():
        print(f"release: {arguments[0]} is not a folder: `make release` builds dist/", file=sys.stderr)
        return 1
    found = list(faults_of(Path(arguments[0]), version()) if arguments else faults_before())
    for fault in found:
        print(f"release: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
