"""The glossary of the course (glossary.toml): each unit ends with its new terms and the earlier ones that it uses.

`python -m course.glossary FILE` writes all terms in alphabetical order as a page.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from course.settings import LessonError
from tfkit_course.command_line import make_parser

TITLE = "Glossary"
POINTER = f"New words are explained in the [glossary](#{TITLE}) at the end."


@dataclass(frozen=True)
class Term:
    """A term, its other forms in lessons, the unit that introduces it, and its definition."""

    unit: str
    forms: tuple[str, ...]
    means: str

    @property
    def word(self) -> str:
        """The term as listed in the glossary."""
        return self.forms[0]

    def is_in(self, text: str) -> bool:
        """Whether `text` contains the term in any of its forms, ignoring case."""
        return any(re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text, re.IGNORECASE) for form in self.forms)


@lru_cache(maxsize=1)
def terms() -> tuple[Term, ...]:
    """All terms, in the order of the course. LessonError for a duplicate term."""
    path = Path(__file__).with_name("glossary.toml")
    units = tomllib.loads(path.read_text(encoding="utf-8"))
    found = [
        Term(unit, tuple(form.strip() for form in word.split(" / ")), means)
        for unit, words in units.items()
        for word, means in words.items()
    ]
    forms = [form.lower() for term in found for form in term.forms]
    if twice := {form for form in forms if forms.count(form) > 1}:
        raise LessonError(f"glossary.toml has {min(twice)!r} twice")
    return tuple(found)


def section(unit: str, text: str) -> str:
    """The glossary at the end of a unit whose lesson is `text`, as markdown; empty if it introduces no term."""
    own = sorted((term for term in terms() if term.unit == unit), key=lambda term: term.word.lower())
    if not own:
        return ""
    earlier = [term for term in terms() if term.unit < unit and term.is_in(text)]
    parts = [f"## {TITLE}", "\n".join(f"- **{term.word}**: {term.means}" for term in own)]
    if earlier:
        parts.append("From earlier units: " + ", ".join(_with_unit(earlier)) + ".")
    return "\n\n".join(parts)


def _with_unit(found: Iterable[Term]) -> list[str]:
    return [f"{term.word} ({term.unit[:2]})" for term in found]


def page() -> str:
    """All terms as one markdown page."""
    rows = [f"| {t.word} | {t.means} | {t.unit[:2]} |" for t in sorted(terms(), key=lambda t: t.word.lower())]
    return "\n".join(["# Glossary of the course", "", "| word | | unit |", "|---|---|---|", *rows]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = make_parser(
        "course.glossary",
        """
        Write course/glossary.toml as a Markdown page: every term of the course in alphabetical order, with its meaning
        and the unit that introduces it.
        """,
        exits={0: "done"},
        examples=("python -m course.glossary docs/glossary.md",),
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the Markdown file to write")
    path = parser.parse_args(arguments).file
    path.write_text(page(), encoding="utf-8")
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
