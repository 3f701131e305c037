"""Writes the tables of course.toml in the handbook: `python -m autograder.settings.page docs/settings.md`."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.settings.course_file import TABLES, TOP, CourseTable, TableKey
from tfkit_course.command_line import make_parser

BEGIN, END = "### At the top\n", "\n## teams.toml\n"  # the tables are between them


def with_tables(page: str) -> str:
    """The page with the tables of course.toml as course_file has them; everything else in it stays.

    Raises ValueError if the headings that surround the tables are missing.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page needs the headings {BEGIN.strip()!r} and {END.strip()!r}, one after the other")
    return f"{before}{_sections()}{end}{after}"


def _sections() -> str:
    headings = {TOP.name: "At the top"} | {table.name: f"`{table.label}`" for table in TABLES}
    return "\n".join(_section(headings[table.name], table) for table in (TOP, *TABLES))


def _section(heading: str, table: CourseTable) -> str:
    lines = [f"### {heading}", *([table.help, ""] if table.help else [])]
    lines += ["| key | value | default | meaning |", "|---|---|---|---|", *map(_row, table.keys)]
    return "\n".join(lines) + "\n"


def _row(key: TableKey) -> str:
    default = key.unset or f"`{json.dumps(key.default)}`"
    return f"| `{key.name}` | {key.type.words} | {default} | {key.help} |"


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = make_parser(
        "autograder.settings.page",
        """
        Write the tables of course.toml in docs/settings.md anew: every key with its values, its default and its
        meaning. The rest of the page stays.
        """,
        exits={0: "done", 2: "the file cannot be read, or has no place for the tables"},
        examples=("python -m autograder.settings.page docs/settings.md",),
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the page to rewrite")
    path = parser.parse_args(arguments).file
    try:
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
    except (OSError, ValueError) as error:
        parser.error(f"{path}: {error.strerror if isinstance(error, OSError) else error}")
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
