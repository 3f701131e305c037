"""Writes a course as a repository that can be pushed: `python -m course.template my-course --url https://github.com/…`.

In it are the released notebooks of the chosen units with badges that open them elsewhere, a dev container, Binder's
files, and CI for GitHub and GitLab that checks each push. Solutions, the key and marks stay on the instructor's disk.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.console import error_messages
from autograder.nbgrader import config
from autograder.settings import course_file
from course.build import build
from course.due import set_due_dates
from course.repository import Repository, released_path
from course.settings import LessonError, Unit, read
from tfkit_course import NAME, replace_unencodable
from tfkit_course.command_line import make_parser

FILES = Path(__file__).parent / "templates" / "course"
NAMES = {"gitignore": ".gitignore"}  # called otherwise here, where it would hide files of ours
UNITS = ("02-masks", "03-heads")
EXECUTABLE = "binder/postBuild"
STUDENTS, INSTRUCTORS = "notebook", "lab,grading,cluster"  # extras
DUE_HOUR, FIRST_DUE, BETWEEN = 18, timedelta(weeks=2), timedelta(weeks=1)
UNPUBLISHED = """\
**First of all**: `requirements.txt` names the package, and no package index has it at the time of version 0.1.0. Until
one has, write the address of a wheel there: `{name}[{extras}] @ https://…/tfkit_course-0.1.0-py3-none-any.whl`. `make
release` in the kit's repository writes the wheel, and a release of yours can hold it. Nothing installs before that.

"""
NO_REPOSITORY = """
# [repository]       # with these lines, notebooks that are built again get badges for Colab, Kaggle and Binder, and a
# url = "https://github.com/OWNER/REPO"                                       # first cell that installs the course"""
REPOSITORY = """
[repository]         # badges and the first cell of each notebook point there
url = "{url}"
branch = "{branch}\""""


class TemplateError(ValueError):
    """The course cannot be written as asked; the message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the repository is to hold. `package`: a name with or without a version, or the address of a wheel."""

    title: str = "Transformers, built by hand"
    units: tuple[str, ...] = UNITS
    first_due: datetime
    repository: Repository | None = None
    package: str = NAME
    torch_index: str = ""

    def requirement(self, extras: str) -> str:
        """The package with these extras, as pip reads it. Raises TemplateError."""
        if re.fullmatch(r"(git\+)?https://[\w.:/@%+~#=&?-]+", self.package):
            return f"{NAME}[{extras}] @ {self.package}"
        found = re.fullmatch(rf"{NAME}\s*([=<>~!][\w.,<>=!~* -]*)?", self.package)
        if found is None:
            raise TemplateError(
                f"--package {self.package} is neither {NAME}, with or without a version, nor the https address of a "
                "wheel or git repository: others install it, so a file of yours would not do"
            )
        return f"{NAME}[{extras}]{found[1] or ''}"

    def due(self, unit: str) -> datetime:
        """The unit's due date: a week after the one before."""
        return self.first_due + BETWEEN * self.units.index(unit)


def write(directory: Path, plan: Plan) -> Path:
    """Write the repository as a new folder -> the folder. Raises TemplateError, LessonError and CourseFileError."""
    if directory.exists() and any(path.name != ".git" for path in directory.iterdir()):
        raise TemplateError(f"{directory} is not empty: choose another name")
    replacements = _replacements(plan)
    with tempfile.TemporaryDirectory() as scratch:  # all of it or nothing
        made = Path(scratch) / "course"
        for source in (path for path in FILES.rglob("*") if path.is_file()):
            name = source.relative_to(FILES)
            copy = made / NAMES.get(str(name), name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(_replaced(source.read_text(encoding="utf-8"), replacements), encoding="utf-8")
        (made / EXECUTABLE).chmod(0o755)
        _release(made, plan.units)
        shutil.copytree(made, directory, dirs_exist_ok=True)
    return directory


def _release(course: Path, units: tuple[str, ...]) -> None:
    """Build the source notebooks and nbgrader's files, and generate what students get."""
    from course.release import generate

    build(course)
    config.install(course)
    set_due_dates(course)
    for unit in units:
        generate(course, unit)


def _replacements(plan: Plan) -> dict[str, str]:
    known = {unit.name: unit for unit in read()}
    if unknown := [name for name in plan.units if name not in known]:
        raise TemplateError(f"no unit is called {unknown[0]!r}; available: {', '.join(known)}")
    repository, requirement = plan.repository, plan.requirement(STUDENTS)
    named = "" if "@" in requirement else UNPUBLISHED.format(name=NAME, extras=STUDENTS)
    index = f"--extra-index-url {plan.torch_index}\n" if plan.torch_index else ""
    return {
        "title": plan.title,
        "units": "\n".join(_unit_table(plan, name) for name in plan.units),
        "table": "\n".join(_row(plan, known[name]) for name in plan.units),
        "first": plan.units[0],
        "repository": REPOSITORY.format(**vars(repository)) if repository else NO_REPOSITORY,
        "codespace": f"{repository.codespace()}\n" if repository else "",
        "requirement": requirement,
        "instructors": plan.requirement(INSTRUCTORS),
        "notice": named,
        "torch_index": index,
    }


def _replaced(text: str, replacements: dict[str, str]) -> str:
    return re.sub(rf"@({'|'.join(replacements)})@", lambda found: replacements[found[1]], text)


def _unit_table(plan: Plan, name: str) -> str:
    return f'[[unit]]\nname = "{name}"\ndue = {plan.due(name).isoformat()}   # change this to your timetable\n'


def _row(plan: Plan, unit: Unit) -> str:
    path = released_path(unit.name)
    due = plan.due(unit.name).strftime("%Y-%m-%d %H:%M %Z").strip()
    return f"| [{unit.title}]({path}) | {due} | {plan.repository.badges(path) if plan.repository else path} |"


def plan_of(options: argparse.Namespace, now: datetime) -> Plan:
    """The plan that the command line asks for. Raises TemplateError and CourseFileError."""
    repository = None
    if options.url:
        table = {"url": options.url.removesuffix("/").removesuffix(".git"), "branch": options.branch}
        course_file.check_table(course_file.REPOSITORY, table, "--url")
        repository = Repository(**table)
    if options.torch_index and not re.fullmatch(r"https?://[\w./~%+:-]+", options.torch_index):
        raise TemplateError(f"--torch-index {options.torch_index} is not the URL of a package index")
    if '"' in options.title or "\\" in options.title or not options.title.isprintable() or not options.title.strip():
        raise TemplateError("--title must be one line without quotation marks and backslashes")
    units = tuple(dict.fromkeys(options.unit or UNITS))
    return Plan(title=options.title, units=units, first_due=options.first_due or _default_due(now),
                repository=repository, package=options.package, torch_index=options.torch_index)  # fmt: skip


def _default_due(now: datetime) -> datetime:
    return (now + FIRST_DUE).replace(hour=DUE_HOUR, minute=0, second=0, microsecond=0)


def _date(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a date such as 2026-10-12T18:00:00+02:00") from None
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no offset from UTC: write {text}+02:00, for instance")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(
        "course.template",
        """
        Write a course as a repository that can be pushed: course.toml, the released notebooks of its units with badges
        for Colab, Kaggle and Binder, a dev container, and CI for GitHub and GitLab that checks what students push.
        Solutions, the key and marks are beside it and ignored by git. `python -m course.new` writes a unit of your own.
        """,
        exits={0: "done", 1: "the course cannot be written; one line on standard error says why"},
        examples=(
            "python -m course.template my-course --url https://github.com/OWNER/REPO",
            "python -m course.template my-course --unit 05-transformer --unit 06-training",
        ),
    )
    parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="the new folder, which may hold a .git alone")
    parser.add_argument("--url", default="", help="address of the repository; without it there are no badges")
    parser.add_argument("--branch", default="main", help="the branch that badges open (default: %(default)s)")
    parser.add_argument(
        "--package",
        default=NAME,
        help="what students and CI install: the package's name, with or without a version, or the address of a wheel "
        "(default: %(default)s)",
    )
    parser.add_argument("--torch-index", default="", metavar="URL", help="the package index of PyTorch's CPU build")
    parser.add_argument(
        "--unit", action="append", metavar="NAME", help=f"a unit (may be repeated; default: {' and '.join(UNITS)})"
    )
    parser.add_argument("--title", default=Plan.title, help="the course's title (default: %(default)s)")
    parser.add_argument(
        "--first-due",
        type=_date,
        metavar="DATE",
        help="when the first unit is due, as 2026-10-12T18:00:00+02:00, each further one a week later (default: in two "
        "weeks)",
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 with one line on stderr where the course cannot be written."""
    replace_unencodable()
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        made = write(options.directory, plan := plan_of(options, datetime.now(UTC)))
    except (TemplateError, LessonError, course_file.CourseFileError) as error:
        parser.exit(1, f"course.template: {error}\n")
    except Exception as error:
        message = error_messages.explain(error, str(options.directory))
        if message is None:
            raise
        parser.exit(1, f"course.template: {message}\n")
    print(f"wrote {made}: {made / 'README.md'} is for students, {made / 'TEACHING.md'} for you. Next:")
    print(f"  cd {made} && git init && git add . && git commit -m 'A course' && git push YOUR-REPOSITORY HEAD:main")
    if "@" not in plan.requirement(STUDENTS):
        print(f"  {made / 'requirements.txt'} names {NAME}, which no package index has yet: see TEACHING.md")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
