"""Builds nbgrader's source notebooks from the lessons: `python -m course.build DIR [--unit NAME …]`.

Which units and exercises, for how many points, due when: `DIR/course.toml`, if there is one (see course.settings).

The output is a function of the input: same bytes on every build, and a file that would not change is not written.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from autograder.console import error_messages
from autograder.nbgrader import config
from course import units as unit_folders
from course.agents import write_agents
from course.due import set_due_dates
from course.files import write_if_new
from course.lite.site import write_site_of
from course.notebook import source_notebook
from course.repository import add_links, repository_of
from course.settings import LessonError, language_of, read
from course.translate import in_language
from tfkit_course import replace_unencodable
from tfkit_course.command_line import make_parser

ENGLISH = "en"  # the language of the lessons


@dataclass(frozen=True)
class BuiltNotebook:
    """One source notebook and whether this build changed it."""

    path: Path
    changed: bool


def build(
    course_dir: str | Path,
    units: list[str] | None = None,
    language: str | None = None,
    track: str | None = None,
    variants: str | None = None,
) -> list[BuiltNotebook]:
    """Write `source/<unit>/<unit>.ipynb` under `course_dir` for the named units, or for all of course.toml.

    language: gettext's code, by default course.toml's; texts without a translation stay in English (course.translate).
    track: only its units, instead of course.toml's. variants: the group for which contracts are drawn, instead of
    course.toml's. Raises LessonError for an unknown unit, track or language, a
    missing lesson, or one whose cells do not fit its exercises.
    """
    folders = {folder.name: folder for folder in unit_folders()}
    settings = {unit.name: unit for unit in read(course_dir, track)}
    if variants is not None:
        settings = {name: replace(unit, variants=variants, own_variants="") for name, unit in settings.items()}
    language, repository = language or language_of(course_dir), repository_of(course_dir)
    known = {path.stem for folder in folders.values() for path in folder.glob("locale/*.po")}
    if language and language not in known | {ENGLISH}:
        raise LessonError(f"no unit is translated into {language!r}; available: {', '.join(sorted(known))} and "
                          f"{ENGLISH}; `python -m course.translate` starts a new language")  # fmt: skip
    names = list(units) if units else list(settings)
    built = []
    for name in names:
        if name not in folders:
            raise LessonError(f"no unit is called {name!r}; available: {', '.join(folders)}")
        made = in_language(folders[name], source_notebook(folders[name], settings.get(name)), language)
        if repository is not None:
            add_links(made, name, repository)
        text = nbformat.writes(made) + "\n"
        path = Path(course_dir) / "source" / name / f"{name}.ipynb"
        built.append(BuiltNotebook(path, write_if_new(path, text)))
        write_agents(path.parent, name, made.metadata.tfkit.exercises, language)
    return built


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(
        "course.build",
        """
        Build nbgrader's source notebooks from the lessons, with nbgrader_config.py and the course's secret key beside
        them. Notebooks that would stay the same are not written again; with --lite, a site for the browser is written.
        """,
        exits={
            0: "all was built",
            1: "a lesson is faulty, or a file cannot be written; one line on standard error says which",
        },
        examples=(
            "python -m course.build my-course",
            "python -m course.build my-course --track core",
            "python -m course.build my-course --unit 03-heads --language fr",
        ),
    )
    parser.add_argument(
        "directory", type=Path, metavar="COURSE_DIR", help="the nbgrader course directory; it is created if needed"
    )
    parser.add_argument("--unit", action="append", metavar="NAME", help="only this unit (may be repeated)")
    parser.add_argument(
        "--track",
        metavar="NAME",
        help="only the units of this track, such as core (docs/syllabus.md), whatever course.toml names: its tables of "
        "other units are left out; `track` in course.toml keeps the choice",
    )
    parser.add_argument(
        "--language",
        metavar="CODE",
        help="language of the notebooks, such as fr, if there is a translation (course.translate)",
    )
    parser.add_argument(
        "--variants",
        metavar="GROUP",
        help="draw a contract of each exercise for this group, whatever course.toml names; '' for the course's own "
        "(`autograder variants` lists them)",
    )
    _add_tab(parser)
    return parser


def _add_tab(parser: argparse.ArgumentParser) -> None:
    lite = parser.add_argument_group("the course in a browser's tab (docs/lite.md)")
    lite.add_argument(
        "--lite", type=Path, metavar="SITE", help="also write a JupyterLite site with the students' notebooks"
    )
    lite.add_argument(
        "--wheels", type=Path, metavar="FOLDER", help="folder with wheels built for Pyodide, including torch's"
    )
    lite.add_argument(
        "--pyodide",
        type=Path,
        metavar="FOLDER",
        help="folder with Pyodide's full distribution, which is copied into the site",
    )


def _as_given(path: Path, directory: Path) -> Path:
    """The path of a file in the course directory, beginning as the user wrote that directory."""
    return directory / path.relative_to(directory.resolve())


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when all was built, 1 with one line on stderr where a lesson or the machine is at fault."""
    replace_unencodable()
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.lite is None and (options.wheels or options.pyodide):
        parser.error("--wheels and --pyodide are only for a site: pass --lite SITE")
    if options.track and options.unit:
        parser.error("--track and --unit both name units: pass one of them")
    try:
        chosen = [unit.name for unit in read(options.directory, options.track)] if options.track else options.unit
        for one in build(options.directory, chosen, options.language, options.track, options.variants):
            print(f"{'built    ' if one.changed else 'unchanged'} {one.path}")
        for path in config.install(options.directory):
            print(f"wrote     {_as_given(path, options.directory)}")
        for line in set_due_dates(options.directory, chosen, options.track):
            print(line)
        if options.lite:
            print(write_site_of(options.directory, chosen, options.lite, options.wheels, options.pyodide))
    except LessonError as error:
        parser.exit(1, f"course.build: {error}\n")
    except Exception as error:
        message = error_messages.explain(error, f"the course {options.directory}")
        if message is None:
            raise
        parser.exit(1, f"course.build: {message}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
