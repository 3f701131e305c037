"""Writes a package with a unit of your own: `python -m course.new my_unit`.

The package works as it is: a reference, checks, right and wrong answers, a lesson, tests. Start your unit from it.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import shutil
import tempfile
from pathlib import Path

from course import units
from tfkit_course import replace_unencodable
from tfkit_course.command_line import make_parser

TEMPLATE = Path(__file__).parent / "templates" / "unit"
FIRST = 90  # units of other packages come after the built-in ones, unless their folder's number says otherwise


class BadName(ValueError):
    """The unit cannot be written under that name or in that folder; the message says why."""


def write(name: str, directory: Path | None = None) -> Path:
    """Write the package `name` as a new folder in `directory` (default: the current one) -> the folder. Raises
    BadName."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise BadName(f"{name!r} is not a Python package name: use lower-case letters, digits and _, as in my_unit")
    if importlib.util.find_spec(name) is not None:
        raise BadName(f"a package called {name} is installed already: choose another name")
    target = (directory or Path.cwd()) / name.replace("_", "-")
    if target.exists():
        raise BadName(f"{target} exists: choose another name, or remove it")
    unit = f"{_number()}-{name.replace('_', '-')}"
    replacements = {"90-my-unit": unit, "my-unit": name.replace("_", "-"), "my_unit": name,
                    "# 90 · My unit": f"# {unit[:2]} · {name.replace('_', ' ').capitalize()}"}  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:  # all of it or nothing
        made = Path(scratch) / "package"
        for source in (path for path in TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            copy = made / _replaced(source.relative_to(TEMPLATE).as_posix(), replacements)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(_replaced(source.read_text(encoding="utf-8"), replacements), encoding="utf-8")
        try:
            shutil.copytree(made, target)
        except OSError as error:
            raise BadName(f"{target} cannot be written: {error.strerror}") from None
    return target


def _number() -> int:
    taken = {folder.name[:2] for folder in units()}
    return next(number for number in range(FIRST, 1000) if str(number) not in taken)


def _replaced(text: str, replacements: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, replacements)), lambda found: replacements[found.group()], text)


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 with one line on stderr where the package cannot be written."""
    replace_unencodable()
    parser = make_parser(
        "course.new",
        """
        Write a Python package that contains one working unit: an exercise with its reference, checks, right and wrong
        answers and lesson. docs/units.md explains how to make it your own.
        """,
        exits={0: "done", 1: "the package cannot be written; one line on standard error says why"},
        examples=("python -m course.new my_unit",),
    )
    parser.add_argument("name", metavar="NAME", help="name of the Python package, such as my_unit")
    parser.add_argument("--directory", type=Path, metavar="DIR", help="parent folder; by default the current one")
    options = parser.parse_args(arguments)
    try:
        made = write(options.name, options.directory)
    except BadName as error:
        parser.exit(1, f"course.new: {error}\n")
    print(f"wrote {made}: {made / 'README.md'} explains its files. Next:")
    print(f"  cd {made} && pip install --no-deps -e .")
    print(f"  autograder corpus {options.name}.cosine --report --mutants")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
