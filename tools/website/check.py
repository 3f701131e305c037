"""Checks a built site: every link works, nothing is fetched from another origin, and no solution is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

from course import units
from course.notebook import SCHEME as MARK_SCHEME
from course.notebook import source_notebook
from course.pointing import SCHEME
from course.solution import BEGIN, END

FETCHED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}
RUN = 3  # this many consecutive lines of a solution give it away, as in the lint of a release
MARK = re.compile(r"^\*$|(?:^|\s)\*+(?=\w)|(?<=\w)\*$")
SHORT = 40  # characters; shorter texts occur in many places by chance


def problems(site: Path) -> list[str]:
    """The faults of the built site, one per line."""
    pages = sorted(site.rglob("*.html"))
    return [*links(site, pages), *requests(site, pages), *solutions(site, pages)]


@cache
def _parse_page(page: Path) -> tuple[list[tuple[str, str, str]], frozenset[str]]:
    """(tag, attribute, value) of everything that a page links to or fetches; and its anchors."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")
    found = [
        (tag.name, FETCHED[tag.name], str(tag[FETCHED[tag.name]]))
        for tag in soup.find_all(list(FETCHED))
        if tag.get(FETCHED[tag.name])
    ]
    found += [("a", "href", str(tag["href"])) for tag in soup.find_all("a", href=True)]
    names = {str(tag["id"]) for tag in soup.find_all(id=True)} | {
        str(tag["name"]) for tag in soup.find_all("a", attrs={"name": True})
    }
    return found, frozenset(names)


def links(site: Path, pages: Iterable[Path]) -> Iterator[str]:
    """Broken links within the site: to a missing file, or to an anchor that its page does not have."""
    for page in pages:
        for tag, _, value in _parse_page(page)[0]:
            address = urlsplit(value)
            if address.scheme or address.netloc or value.startswith(SCHEME):
                continue
            target = page if not address.path else (page.parent / unquote(address.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            where = f"{page.relative_to(site)}: <{tag}> {value}"
            if not target.is_file() or not target.is_relative_to(site.resolve()) and target != page:
                yield f"{where}: there is no such file"
            elif tag == "a" and _is_missing(target, address.fragment):
                yield f"{where}: that page has no such anchor"


def _is_missing(page: Path, anchor: str) -> bool:
    """As a browser looks for it: as it is written, then with its percent signs decoded."""
    return bool(anchor) and page.suffix == ".html" and _parse_page(page)[1].isdisjoint((anchor, unquote(anchor)))


def requests(site: Path, pages: Iterable[Path]) -> Iterator[str]:
    """Everything that a browser would fetch from another origin; plain links do not count."""
    for page in pages:
        for tag, _, value in _parse_page(page)[0]:
            if tag != "a" and (urlsplit(value).netloc or urlsplit(value).scheme not in ("", "data")):
                yield f"{page.relative_to(site)}: <{tag}> fetches {value}"
    for sheet in site.rglob("*.css"):
        for value in re.findall(
            r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", sheet.read_text(encoding="utf-8")
        ):
            if re.match(r"(?:[a-z]+:)?//", "".join(value)):
                yield f"{sheet.relative_to(site)}: fetches {''.join(value)}"


def marks(site: Path, pages: Iterable[Path]) -> Iterator[str]:
    """Asterisks of Markdown that became no emphasis, outside code and formulas; not in the API reference and the
    zoo, which show docstrings as they are written."""
    for page in pages:
        if page.relative_to(site).parts[0] in ("api", "zoo"):
            continue
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")
        for part in soup.find_all(["pre", "code", "script", "style", "math"]):
            part.replace_with(" ")
        for text in soup.stripped_strings:
            if found := MARK.search(text):
                near = text[max(0, found.start() - 20) : found.end() + 40]
                yield f"{page.relative_to(site)}: {near!r} has an asterisk that emphasises nothing"


def hidden() -> dict[str, list[str]]:
    """Source of a text -> lines that no page may show: solutions and mark schemes of every unit."""
    found: dict[str, list[str]] = {}
    for folder in units():
        for cell in source_notebook(folder).cells:
            for begin, end in ((BEGIN, END), MARK_SCHEME):
                pieces = re.findall(rf"{re.escape(begin)}\n(.*?){re.escape(end)}", cell.source, re.S)
                for index, piece in enumerate(pieces):
                    found[f"{folder.name}/{cell.id}#{index}"] = plain_lines(piece)
    return found


def plain_lines(text: str) -> list[str]:
    """Without indentation, blank lines and comments: the form in which copies are recognised."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def page_lines(page: Path) -> str:
    """The lines of a page's text and scripts, without indentation."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")
    return "\n" + "\n".join(plain_lines(soup.get_text().replace("\\n", "\n"))) + "\n"


def solutions(site: Path, pages: Iterable[Path]) -> Iterator[str]:
    """Pages with three lines in a row of a hidden text, or the whole of a shorter one. The zoo's pages are public code,
    written for students too, so solutions that also occur in them do not count there."""
    texts = {name: list(runs_of(lines)) for name, lines in hidden().items()}
    for page in pages:
        if page.parent.name == "zoo":
            continue
        text = page_lines(page)
        for name, runs in texts.items():
            if run := next((run for run in runs if f"\n{run}\n" in text), None):
                first = run.partition("\n")[0][:60]
                yield f"{page.relative_to(site)} shows hidden lines of {name} ({first!r} …)"


def runs_of(lines: list[str]) -> Iterator[str]:
    """Every three consecutive lines, which give a text away; all lines of a shorter text."""
    size = min(RUN, len(lines))
    runs = ("\n".join(lines[at : at + size]) for at in range(len(lines) - size + 1))
    return (run for run in runs if len(run) >= SHORT)
