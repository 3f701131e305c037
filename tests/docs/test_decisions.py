"""The decisions are few files, each decision has a number of its own, and whatever is cited is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/decisions"
CODE = ("autograder", "bench", "course", "extension/tfkit_lab", "research", "tests", "tfkit", "tfkit_course", "tools")
TITLE = re.compile(r"^## (.+)$", re.MULTILINE)
CITED = re.compile(r"\b[Dd]ecisions? (\d+)(?: and (\d+))?")
LINK = re.compile(r"(?:decisions/|\]\()([a-z]+\.md)#(\d[\w-]*)")


def titles() -> dict[str, list[str]]:
    """File -> the titles in it, `12. Hidden states of …`."""
    return {file.name: TITLE.findall(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.md"))}


def anchor(title: str) -> str:
    """A heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def texts() -> Iterator[tuple[Path, str]]:
    """Whatever may cite a decision: documents, and code without the collected answers."""
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "Makefile"]
    files += [file for folder in CODE for file in (ROOT / folder).rglob("*.py") if "submissions" not in file.parts]
    for file in files:
        yield file.relative_to(ROOT), file.read_text(encoding="utf-8", errors="replace")


def test_no_two_decisions_have_one_number() -> None:
    numbers = Counter(title.partition(".")[0] for found in titles().values() for title in found)
    assert 0 < len(titles()) <= 20 and len(numbers) > 190
    assert [number for number, count in numbers.items() if count > 1 or not number.isdecimal()] == []


def test_what_is_cited_is_there() -> None:
    numbers = {title.partition(".")[0] for found in titles().values() for title in found}
    anchors = {(name, anchor(title)) for name, found in titles().items() for title in found}
    wrong = []
    for file, text in texts():
        wrong += [
            f"{file}: decision {one}" for pair in CITED.findall(text) for one in pair if one and one not in numbers
        ]
        wrong += [f"{file}: {name}#{place}" for name, place in LINK.findall(text) if (name, place) not in anchors]
    assert not wrong, "\n".join(wrong)


def test_an_anchor_is_made_as_github_makes_it() -> None:
    title = "77. A course's own misconceptions are recognized by answers, not by code"
    assert anchor(title) == "77-a-courses-own-misconceptions-are-recognized-by-answers-not-by-code"
