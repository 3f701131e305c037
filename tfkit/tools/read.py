"""The page of an architecture (`tfkit.pages`), found by name, and two of them compared."""

from __future__ import annotations

import difflib
from pathlib import Path

from .. import registry

FOLDER = Path(__file__).parents[1] / "pages"


def pages() -> dict[str, Path]:
    """Architecture -> the file of its page."""
    return {file.stem: file for file in sorted(FOLDER.glob("[!_]*.py"))}


def page(name: str) -> str:
    """The text of an architecture's page. LookupError says what may have been meant."""
    found = pages()
    if name in found:
        return found[name].read_text(encoding="utf-8")
    if name in registry.sources():
        raise LookupError(f"{name} is of another package and has no page; tfkit flatten {name} prints all of it")
    near = suggestions(name, list(found))
    meant = f"did you mean {', '.join(near)}?" if near else f"there are {len(found)} pages;"
    raise LookupError(f"no page {name!r}; {meant} tfkit list names them all")


def suggestions(name: str, known: list[str]) -> list[str]:
    """Of the known names, those that look like this one, and those that one of the two begins with; at most five."""
    plain = name.lower().replace("-", "_")
    begins = [other for other in known if plain and (plain.startswith(other) or other.startswith(plain))]
    begins.sort(key=len, reverse=True)
    return list(dict.fromkeys([*difflib.get_close_matches(plain, known, n=3), *begins]))[:5]


def changes(one: str, other: str) -> str | None:
    """A unified diff of two pages, empty where they are the same; None where one of them has none."""
    found = pages()
    if one not in found or other not in found:
        return None
    before, after = page(one).splitlines(), page(other).splitlines()
    return "\n".join(difflib.unified_diff(before, after, f"{one}.py", f"{other}.py", lineterm=""))
