"""Finds the page of an architecture (`tfkit.pages`) by name, and compares two of them."""

from __future__ import annotations

import difflib
from pathlib import Path

from .. import registry

FOLDER = Path(__file__).parents[1] / "pages"


def pages() -> dict[str, Path]:
    """Architecture -> the file of its page."""
    return {file.stem: file for file in sorted(FOLDER.glob("[!_]*.py"))}


def page(name: str) -> str:
    """The text of an architecture's page. Raises LookupError with suggestions."""
    found = pages()
    if name in found:
        return found[name].read_text(encoding="utf-8")
    if name in registry.sources():
        raise LookupError(f"{name} is of another package and has no page; tfkit flatten {name} prints all of it")
    near = suggestions(name, list(found))
    meant = f"did you mean {', '.join(near)}?" if near else f"there are {len(found)} pages;"
    raise LookupError(f"no page {name!r}; {meant} tfkit list names them all")


def suggestions(name: str, known: list[str]) -> list[str]:
    """The known names that resemble this one, or of which one is a prefix of the other; at most five."""
    plain = name.lower().replace("-", "_")
    begins = [other for other in known if plain and (plain.startswith(other) or other.startswith(plain))]
    begins.sort(key=len, reverse=True)
    return list(dict.fromkeys([*difflib.get_close_matches(plain, known, n=3), *begins]))[:5]


def changes(one: str, other: str) -> str | None:
    """A unified diff of two pages, empty if they are the same; None if one architecture has no page."""
    found = pages()
    if one not in found or other not in found:
        return None
    before, after = page(one).splitlines(), page(other).splitlines()
    return "\n".join(difflib.unified_diff(before, after, f"{one}.py", f"{other}.py", lineterm=""))
