"""The page for privacy officers names every file with people in it that the code knows."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.capstone import results
from autograder.maintenance import forget, places
from autograder.nbgrader import config

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/privacy.md").read_text(encoding="utf-8")
# what the first cells of its tables name
CELLS = re.findall(r"^\| ([^|]+) \|", PAGE, re.MULTILINE)
NAMES = {name.strip("/") for cell in CELLS for name in re.findall(r"`([^`]+)`", cell)}


def test_every_private_file_is_on_the_page() -> None:
    names = [name.strip("/*") for name in config.PRIVATE]
    assert len(names) > 10 and [name for name in names if name not in NAMES] == []


def test_every_place_that_is_cleared_is_on_the_page() -> None:
    places_of_students = (*forget.ROWS, forget.STUDENTS, results.FILE, places.PREDICTIONS, "exchange/")
    assert [name for name in places_of_students if name.strip("/") not in NAMES] == []


def test_the_templates_page_refers_to_it() -> None:
    assert "`docs/privacy.md`" in (ROOT / "course/templates/course/PRIVACY.md").read_text(encoding="utf-8")
