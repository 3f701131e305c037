"""The one owner of course.toml: every table and key with its type, default and meaning; reading and checking the file.

The modules that use a table (course.settings, points and capstone beside it, assistants.rules) take it from `read`, and
their defaults from the tables below. The tables of docs/settings.md are written from here, too
(autograder.settings.page). The whole file is checked, whichever table is wanted: a misspelt name is refused by every
command that reads the file, rather than ignored by all of them.
"""

from __future__ import annotations

import difflib
import math
import re
import reprlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from autograder.api import HINTS, Property
from autograder.settings.credit import DEFAULT, RULES
from tfkit_course.formats import COURSE_FILE, is_newer, too_new

FILE = "course.toml"
GROUP, STUDENT = "group", "student"  # whose contracts are drawn


class CourseFileError(ValueError):
    """A course.toml that cannot be used; the message names the file and the entry, and says what to do."""


class ValueType(NamedTuple):
    """What a value must be, in words that follow "must be", and whether a value is that."""

    words: str
    accepts: Callable[[Any], bool]


@dataclass(frozen=True, kw_only=True)
class TableKey:
    """One key of a table. `unset` says in words what counts without it, where that is no value."""

    name: str
    type: ValueType
    default: Any = None
    unset: str = ""
    required: bool = False
    help: str


@dataclass(frozen=True, kw_only=True)
class CourseTable:
    """One table of the file; `several`: an array of tables, [[name]]. `example`: a valid line of it."""

    name: str
    keys: tuple[TableKey, ...]
    example: str
    several: bool = False
    help: str = ""

    @property
    def label(self) -> str:
        """The table's header, as it is written."""
        return f"[[{self.name}]]" if self.several else f"[{self.name}]"

    @property
    def names(self) -> list[str]:
        """The names of its keys."""
        return [key.name for key in self.keys]

    @property
    def defaults(self) -> dict[str, Any]:
        """Key -> default, of the keys whose default is a value."""
        return {key.name: key.default for key in self.keys if key.default is not None}


def _is_number(value: Any, above: float = -math.inf, least: float = -math.inf) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > above and value >= least


def _is_whole(value: Any) -> bool:
    return _is_number(value, above=0) and value == int(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_due(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _are_ids(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_text(one) for one in value)


def _are_points(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_number(points, least=0) for points in value.values())


def _are_bands(value: Any) -> bool:
    """Whether they are pairs of bits and points, and a band of fewer bits never earns fewer points than another."""
    if not (isinstance(value, list | tuple) and value and all(_is_band(band) for band in value)):
        return False
    points = [points for _, points in sorted(value, key=lambda band: (-band[0], -band[1]))]
    return points == sorted(points)


def _is_band(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(_is_number(one, least=0) for one in value)


def _are_hints(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HINTS


def _is_url(value: Any) -> bool:
    """Whether it is a repository's address, which becomes part of links and of code in notebooks."""
    return isinstance(value, str) and re.fullmatch(r"https://[\w.:-]+(/[\w.~-]+){2,}(?<!\.git)", value) is not None


def _is_branch(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\w[\w./-]*", value) is not None


TEXT = ValueType("text in quotes", _is_text)
SWITCH = ValueType("true or false", lambda value: isinstance(value, bool))
ABOVE_ZERO = ValueType("a number above 0", partial(_is_number, above=0))
ZERO_OR_MORE = ValueType("a number, 0 or more", partial(_is_number, least=0))
VALUES = ValueType("a number above 0, or right answers would earn nothing", partial(_is_number, above=0))
WHOLE = ValueType("a whole number above 0", _is_whole)
LANGUAGE = ValueType('a gettext language code, such as "fr"', _is_text)
DUE = ValueType("date, time and offset, as 2026-10-12T18:00:00+02:00", _is_due)
EXERCISES = ValueType('a list of ids, as ["masks.causal"]; leave it out for all', _are_ids)
UNITS = ValueType('a list of units, as ["01-recurrence-to-attention", "02-masks"]', _are_ids)
POINTS = ValueType('numbers by exercise, as {"masks.softmax" = 4}', _are_points)
PART = ValueType("a number above 0 and at most 1", lambda value: _is_number(value, above=0) and value <= 1)
WHOSE = ValueType(f'"{GROUP}" or "{STUDENT}"', lambda value: value in (GROUP, STUDENT))
UNIT_POINTS = ValueType("a number of points, 0 for none", partial(_is_number, least=0))
SHARE = ValueType("a number from 0 to 1", lambda value: _is_number(value, least=0) and value <= 1)
CREDIT = ValueType(" or ".join(f'"{rule}"' for rule in RULES), lambda value: value in RULES)
BANDS = ValueType("pairs, as [[1.0, 3], [0.5, 6]], in which fewer bits never earn fewer points", _are_bands)
URL = ValueType("a repository's address without .git, as https://github.com/OWNER/REPO", _is_url)
BRANCH = ValueType("a branch's name", _is_branch)
FORMAT = ValueType(
    f"{COURSE_FILE.version}, which is what this release writes", lambda value: value == COURSE_FILE.version
)
STEPS = ValueType(f"a whole number from 0 to {HINTS}", _are_hints)


TOP = CourseTable(
    name="",
    example='language = "fr"',
    keys=(
        TableKey(name="title", type=TEXT, unset="none", help="for you: nothing reads it"),
        TableKey(
            name="language",
            type=LANGUAGE,
            default="en",
            help="gettext's code of the notebooks' language; `course.build --language` overrides it",
        ),
        TableKey(
            name="track",
            type=TEXT,
            unset="none",
            help='a path through the course, such as "core": the course has its units, and `[[unit]]` only changes '
            "them; `course.build --track` overrides it, and leaves out the tables of units that its track has not",
        ),
        TableKey(
            name="recall",
            type=SWITCH,
            default=True,
            help="whether units after the first open with up to three questions on earlier ones, which come back after "
            "days and never count",
        ),
        TableKey(
            name="sure",
            type=SWITCH,
            default=False,
            help="whether predictions also ask how sure one is, which may be left open and never counts; units that "
            "have some then end with the student's curve, and the class panel shows what surprised the class",
        ),
        TableKey(
            name="variants",
            type=TEXT,
            unset="everybody has the course's own contracts",
            help='a term or a group, such as "2026, group B": exercises are asked for under contracts that are drawn '
            "by this text, with another polarity, axis or order of their values (`autograder variants` lists them); "
            "`course.build --variants` overrides it",
        ),
        TableKey(
            name="variants_for",
            type=WHOSE,
            default=GROUP,
            help=f"`{STUDENT}`: each student gets contracts of their own, drawn by `variants` and the student's id; "
            "`python -m course.personal` writes their notebooks, and the grader draws the same",
        ),
        TableKey(name="format", type=FORMAT, default=COURSE_FILE.version, help="of this file (docs/upgrades.md)"),
    ),
)

TRACKS = CourseTable(
    name="tracks",
    several=True,
    example='name = "core"',
    help="A path through the course, beside those of docs/syllabus.md; one with the same name replaces it.",
    keys=(
        TableKey(name="name", type=TEXT, required=True, unset="required", help="what `track` and `--track` call it"),
        TableKey(name="title", type=TEXT, unset="its name", help="on the lab's home page"),
        TableKey(name="about", type=TEXT, unset="none", help="what it is about, on docs/syllabus.md"),
        TableKey(name="units", type=UNITS, unset="none, which is refused", help="its units, in the course's order"),
    ),
)

UNIT = CourseTable(
    name="unit",
    several=True,
    example='name = "02-masks"',
    help="One table for each unit, in the course's order; units without a table are not in the course, unless `track` "
    "names them.",
    keys=(
        TableKey(
            name="name",
            type=TEXT,
            required=True,
            unset="required",
            help="the unit's folder, such as `02-masks`; `autograder list` shows them",
        ),
        TableKey(name="title", type=TEXT, unset="the unit's own", help="in the notebook and the course panel"),
        TableKey(
            name="minutes", type=ABOVE_ZERO, unset="the unit's own", help="how long it takes, in the course panel"
        ),
        TableKey(
            name="due",
            type=DUE,
            unset="the gradebook's",
            help="for nbgrader's gradebook, late penalties and `collect`; without the line, the next build clears a "
            "date that it wrote itself (`.due.json` records it), and keeps one from the formgrader",
        ),
        TableKey(
            name="exercises",
            type=EXERCISES,
            unset="all",
            help="what students build; the unit's other exercises are given, with solutions",
        ),
        TableKey(name="points", type=POINTS, unset="the exercises' own", help="what exercises are worth here"),
        TableKey(
            name="predictions",
            type=UNIT_POINTS,
            default=0,
            help="for having made the unit's predictions, right or wrong",
        ),
        TableKey(
            name="questions",
            type=UNIT_POINTS,
            default=0,
            help="for right answers to questions about one's own code (docs/assessment.md), made again from what is "
            "handed in; 0: nobody is asked in the notebook",
        ),
        TableKey(
            name="needs",
            type=UNITS,
            unset="the unit's own",
            help="earlier units whose ideas it takes up, beside those whose functions it imports; for docs/syllabus.md",
        ),
    ),
)

PROPERTY_HELP: dict[Property, str] = {
    "values": "the results",
    "shapes": "their shapes",
    "gradients": "gradients",
    "dtypes": "results in other dtypes",
    "edges": "edge cases, such as a fully masked row; in any case at most a quarter of an exercise",
    "cost": "limits on time and memory",
    "purity": "that the arguments are left unchanged",
}

WEIGHTS = CourseTable(
    name="weights",
    example="gradients = 2",
    help="What the checks of each property earn, times the exercises' own weights. 0: the check is shown, but costs "
    "nothing.",
    keys=tuple(
        TableKey(name=name, type=VALUES if name == "values" else ZERO_OR_MORE, default=1, help=meaning)
        for name, meaning in PROPERTY_HELP.items()
    ),
)

GRADING = CourseTable(
    name="grading",
    example='credit = "checks"',
    help="What a wrong answer keeps, what lines in order earn, and how many submissions are graded twice.",
    keys=(
        TableKey(
            name="credit",
            type=CREDIT,
            default=DEFAULT,
            help="`distance`: 70 % at one known edit from a right answer, 40 % at two, 10 % at three, and never less "
            "than its checks earn. `checks`: only what they earn, which is nothing where ordinary values are wrong",
        ),
        TableKey(
            name="ordered",
            type=PART,
            unset="none is taken",
            help="the share of its points that an exercise earns if an order of its lines is handed in in the place of "
            "code (`order(…).hand_in(…)`); the notebooks say so",
        ),
        TableKey(
            name="again",
            type=SHARE,
            default=0.05,
            help="the share of the submissions that `autograder grade` grades a second time, on another worker if "
            "there are several, to name each verdict that differs; of those on a cluster's workers at least one. 0: "
            "none",
        ),
    ),
)

CAPSTONE = CourseTable(
    name="capstone",
    example="seconds = 120",
    keys=(
        TableKey(name="seconds", type=ABOVE_ZERO, default=120.0, help="of processor time, for `fit`"),
        TableKey(name="letters", type=WHOLE, default=400_000, help="of text to train on"),
        TableKey(
            name="bands",
            type=BANDS,
            default=((0.6, 3.0), (0.25, 6.0), (0.12, 8.0), (0.08, 10.0)),
            help="at most so many bits per byte above the text's entropy earn so many points",
        ),
        TableKey(name="windows", type=WHOLE, default=64, help="pieces of new text that the model is measured on"),
        TableKey(name="length", type=WHOLE, default=96, help="bytes of each piece"),
        TableKey(name="memory_mb", type=WHOLE, default=3072, help="memory of the sandbox, in MB"),
    ),
)

ASSISTANTS = CourseTable(
    name="assistants",
    example="hints = 2",
    keys=(
        TableKey(
            name="hints",
            type=STEPS,
            default=HINTS,
            help="steps of help that `autograder mcp` gives; never more than `c.ShowVerdicts.hints`",
        ),
    ),
)

REPOSITORY = CourseTable(
    name="repository",
    example='url = "https://github.com/OWNER/REPO"',
    help="Where the released notebooks are public, in `release/` of a repository as `python -m course.template` writes "
    "it. Each notebook gets badges that open it elsewhere, and a cell that installs `requirements.txt` there.",
    keys=(
        TableKey(name="url", type=URL, required=True, unset="required", help="the repository's address"),
        TableKey(name="branch", type=BRANCH, default="main", help="the branch that the badges open"),
    ),
)

TABLES = (UNIT, TRACKS, WEIGHTS, GRADING, CAPSTONE, ASSISTANTS, REPOSITORY)


def read(path: Path) -> dict[str, Any]:
    """The contents of the course.toml at this path, checked; empty if it does not exist.

    Raises CourseFileError, with one line, for anything in the file that is unknown or of the wrong type.
    """
    if not path.exists():
        return {}
    contents, tables = _parse(path), {table.name: table for table in TABLES}
    if _is_whole(found := contents.get("format")) and is_newer(found, COURSE_FILE):  # before its names are looked at
        raise CourseFileError(too_new(str(path), found, COURSE_FILE))
    _refuse_unknown(contents, str(path), dict.fromkeys(TOP.names) | tables)
    _check_values(TOP, {name: value for name, value in contents.items() if name not in tables}, str(path))
    for name in tables.keys() & contents.keys():
        if tables[name].several:
            _check_each(tables[name], contents[name], path)
        else:
            check_table(tables[name], contents[name], f"{path}: {tables[name].label}")
    return contents


def check_table(table: CourseTable, given: Any, where: str) -> None:
    """Raise CourseFileError, which begins with `where`, unless `given` is a valid table of this kind."""
    if not isinstance(given, Mapping):
        raise CourseFileError(f"{where} must be a table: write {table.label} and {table.example} below it")
    _refuse_unknown(given, where, dict.fromkeys(table.names))
    _check_values(table, given, where)


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CourseFileError(f"{path} is not TOML: {str(error).splitlines()[0]}") from None
    except OSError as error:
        raise CourseFileError(f"{path} cannot be read: {error.strerror}") from None


def _check_each(table: CourseTable, given: Any, path: Path) -> None:
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
        raise CourseFileError(f"{path}: {table.name} must be several tables: write {table.label} and {table.example} "
                              "below it for each")  # fmt: skip
    for number, entry in enumerate(given, 1):
        name = entry.get("name")
        check_table(table, entry, f"{path}: {table.name} {name if _is_text(name) else number}")


def _check_values(table: CourseTable, given: Mapping[str, Any], where: str) -> None:
    for key in table.keys:
        if key.required and key.name not in given:
            raise CourseFileError(f"{where} has no {key.name}: write {table.example}, for instance")
        if key.name in given and not key.type.accepts(given[key.name]):
            raise CourseFileError(f"{where}: {key.name} = {_shown(given[key.name])} must be {key.type.words}")


def _shown(value: Any) -> str:
    return value.isoformat() if isinstance(value, date | time) else reprlib.repr(value)


def _refuse_unknown(given: Mapping[str, Any], where: str, known: Mapping[str, CourseTable | None]) -> None:
    """known: what may stand there; a table by its name, or None for a plain key."""
    for name in sorted(given.keys() - known.keys()):
        labels = {one: table.label if table else one for one, table in known.items()}
        raise CourseFileError(
            f"{where} has {_written(name, given[name])}, which is not one of {', '.join(labels.values())}"
            + _advice(name, given[name], labels)
        )


def _written(name: str, value: Any) -> str:
    """An unknown entry as the file has it: a table by its header, a key in quotes."""
    if isinstance(value, dict):
        return f"[{name}]"
    return f"[[{name}]]" if value and isinstance(value, list) and isinstance(value[0], dict) else repr(name)


def _advice(name: str, value: Any, labels: Mapping[str, str]) -> str:
    """What was meant: a key of that very name elsewhere in the file, otherwise the nearest name known here."""
    tables = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    if homes := [] if tables else list(_homes(name)):
        return f"; it belongs {' or '.join(homes)}"
    near = difflib.get_close_matches(name.lower(), labels, n=1)
    return f"; did you mean {labels[near[0]]}?" if near else ""


def _homes(name: str) -> Iterator[str]:
    if name in TOP.names:
        yield "at the top, before all tables"
    for table in TABLES:
        if name in table.names:
            yield f"below {table.label}"
