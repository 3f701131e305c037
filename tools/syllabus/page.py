"""The page docs/syllabus.md and the table of tracks in README.md, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from course import all_exercises, units
from course.settings import Track, Unit, read, tracks
from tools.syllabus import workload
from tools.syllabus.needs import Needs, from_the_library, needs
from tools.syllabus.weeks import LONG, QUARTER, Sitting, plan

GRAPH = "images/syllabus.svg"
BEGIN, END = "<!-- tracks: written by python -m tools.syllabus -->\n", "<!-- /tracks -->"
SELF_TEST = re.compile(r"^# ## (Before you begin.*?)\n\n# %%", re.MULTILINE | re.DOTALL)
PLANS = {6: ("core", "today"), 12: ("zoo", "")}  # weeks -> tracks; empty: the whole course


def track_table(link: str) -> str:
    """The tracks with their units and hours; link: the page that has more."""
    course = {unit.name: unit for unit in read()}
    rows = [_track_row(one, [course[name] for name in one.units]) for one in tracks().values()]
    rows.append(f"| All | all | {hours(list(course.values()))} | no such line |")
    return "\n".join([f"| [track]({link}) | units | hours | in `course.toml` |", "|---|---|---:|---|", *rows]) + "\n"


def _track_row(track: Track, own: Sequence[Unit]) -> str:
    numbers = ", ".join(unit.name[:2] for unit in own)
    return f'| {track.title} | {numbers} | {hours(own)} | `track = "{track.name}"` |'


def hours(own: Sequence[Unit | Sitting]) -> str:
    """The hours of some units, to the quarter."""
    return f"{round(sum(one.minutes or 0 for one in own) / QUARTER) / 4:g}"


def with_tracks(readme: str) -> str:
    """README.md with the table between its two comments. Raises ValueError without them."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"README.md needs the lines {BEGIN.strip()!r} and {END!r}, in this order")
    return f"{before}{begin}{track_table('docs/syllabus.md')}{end}{after}"


def write_page() -> str:
    """docs/syllabus.md."""
    course, known = read(), tracks()
    found = needs(course)
    parts = [INTRODUCTION, track_table("#tracks"), _about(known, found), _units(course, found), GRAPH_TEXT,
             _self_test(), _weeks(course, known), _rule()]  # fmt: skip
    return "\n".join(parts)


INTRODUCTION = """# Syllabus: which units, in which order, how long

Eighteen units are more than one course. A *track* is a path through them. A teacher chooses one with a line in
`course.toml`, or with `python -m course.build my-course --track core`; where a course has several tracks whole,
its home page lets each student choose among them.

**The hours are an estimate**, by the rule at the end of this page, and nobody has measured them on students.
Somebody who knows PyTorch well may need two thirds of them, and somebody who meets gradients for the first time
twice as many.

## Tracks
"""

GRAPH_TEXT = f"""## What depends on what

![The eighteen units as boxes, with an arrow from each to those that build on it; \
the table above has it in words]({GRAPH})

An arrow leads from a unit to one that imports its functions; a dashed arrow to one that only takes up its
ideas. Arrows that follow from others are left out. The five units of the core, which `make demo` releases, are
blue. A unit can be done without those before it: the notebook imports what it needs from the library, which has
every function that a student would have built."""


def _about(known: dict[str, Track], found: Needs) -> str:
    lines = [_one_track(track, found) for track in known.values()]
    return "\n".join([*lines, ""])


def _one_track(track: Track, found: Needs) -> str:
    left_out = [
        f"{unit[:2]} takes {', '.join(f'`{name}`' for name in functions)} of {other[:2]}"
        for other, takers in from_the_library(track.units, found).items()
        for unit, functions in takers.items()
    ]
    more = f" From the library, for the units left out: {'; '.join(left_out)}." if left_out else ""
    return f"- **{track.title}**: {track.about}.{more}"


def _units(course: Sequence[Unit], found: Needs) -> str:
    head = ["## Units\n", "| unit | hours | exercises | builds on | of these it imports |", "|---|---:|---:|---|---|"]
    return "\n".join([*head, *(_unit_row(unit, found) for unit in course), ""])


def _unit_row(unit: Unit, found: Needs) -> str:
    count = sum(exercise.unit == unit.name for exercise in all_exercises()) or "project"
    before = found[unit.name]
    imported = [f"`{name}`" for functions in before.values() for name in functions]
    numbers = ", ".join(one[:2] for one in before) or "the self-test"
    cells = [f"{unit.name[:2]} {unit.title}", hours([unit]), count, numbers, ", ".join(imported) or "nothing"]
    return f"| {' | '.join(map(str, cells))} |"


def _self_test() -> str:
    """The questions of unit 01's lesson, which students get in their language."""
    (folder,) = [folder for folder in units() if folder.name.startswith("01")]
    lesson = (Path(folder) / "lesson.py").read_text(encoding="utf-8")
    found = SELF_TEST.search(lesson)
    if found is None:
        raise ValueError(f"{folder.name}/lesson.py has no section 'Before you begin'")
    return "## " + re.sub(r"(?m)^# ?", "", found[1]) + "\n"


def _weeks(course: Sequence[Unit], known: dict[str, Track]) -> str:
    parts = []
    for weeks, names in PLANS.items():
        parts.append(f"## {'Six' if weeks == 6 else 'Twelve'} weeks\n")
        for name in names:
            own = [unit for unit in course if not name or unit.name in known[name].units]
            parts.append(_plan(known[name].title if name else "All", plan(own, weeks)))
    return "\n".join([*parts, f"Units of {LONG // 60} hours or more are done in two sittings. Weeks are filled in the "
                      "units' order, so that the fullest is as light as it can be.\n"])  # fmt: skip


def _plan(title: str, weeks: list[list[Sitting]]) -> str:
    rows = [f"| {number} | {_in_week(week)} | {hours(week)} |" for number, week in enumerate(weeks, 1)]
    return "\n".join([f"**{title}**\n", "| week | units | hours |", "|---:|---|---:|", *rows, ""])


def _in_week(week: list[Sitting]) -> str:
    """The units of a week; one whose halves are both in it is whole."""
    halves: dict[str, list[int]] = {}
    for one in week:
        halves.setdefault(one.unit, []).append(one.half)
    names = {(0,): "", (1, 2): "", (1,): " (first half)", (2,): " (second half)"}
    return ", ".join(unit[:2] + names[tuple(found)] for unit, found in halves.items())


def _rule() -> str:
    return f"""## How the hours are estimated

A minute for {workload.WORDS} words of text and for {workload.LINES} lines of given code;
{workload.PREDICTION:g} minutes for a prediction; {workload.EXERCISE:g} minutes for an exercise, and
{workload.WRITTEN:g} more for each line of its reference; {workload.ANSWER:g} minutes for a written answer;
{workload.PROJECT / 60:g} hours for the project; and the processor time of the
unit's cells, which was measured ([course-timings.md](course-timings.md)). The sum is rounded to a quarter of an hour.
`python -m tools.syllabus --estimate` prints the parts. The numbers of the rule are the authors' guesses. Where you have
times of a class, put them into `minutes` of your `course.toml`, and the home page shows them.
"""
