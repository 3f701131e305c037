"""SECURITY.md names for each promise the tests that hold it: they exist, and test something."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.attacks.command import chosen
from autograder.attacks.families import FAMILIES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_promise_names_tests_that_exist():
    promised = TEXT.partition("## What is promised")[2].partition("\n## ")[0]
    rows = [line for line in promised.splitlines() if "tests/" in line]
    assert len(rows) >= 10
    for row in rows:
        for place in re.findall(r"`(tests/[\w/.]+)`", row):
            files = [ROOT / place] if place.endswith(".py") else list((ROOT / place).glob("test_*.py"))
            assert files and all("def test_" in file.read_text(encoding="utf-8") for file in files), place


def test_it_is_one_page():
    assert len(TEXT.splitlines()) < 70


def test_the_attacks_are_counted_as_they_are_played():
    count = len(chosen(every=True))
    assert f"{count} submissions in eleven families" in TEXT and len(FAMILIES) == 11
    assert f"plays {count} attacks" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
