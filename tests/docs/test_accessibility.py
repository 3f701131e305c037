"""The conformance report has each criterion once, counts its results, and names files and helpers that exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/accessibility.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d\.\d+\.\d+) [^|]+ \| (A|AA) \| ([a-z ]+) \| \S", PAGE, re.MULTILINE)
RESULTS = {"supports", "partly", "does not support", "does not apply"}
# WCAG 2.2, levels A and AA: the last number of the criteria of each guideline
CRITERIA = {
    "1.1": [1], "1.2": [1, 2, 3, 4, 5], "1.3": [1, 2, 3, 4, 5], "1.4": [1, 2, 3, 4, 5, 10, 11, 12, 13],
    "2.1": [1, 2, 4], "2.2": [1, 2], "2.3": [1], "2.4": [1, 2, 3, 4, 5, 6, 7, 11], "2.5": [1, 2, 3, 4, 7, 8],
    "3.1": [1, 2], "3.2": [1, 2, 3, 4, 6], "3.3": [1, 2, 3, 4, 7, 8], "4.1": [2, 3],
}  # fmt: skip


def test_each_criterion_has_one_result() -> None:
    assert [number for number, _, _ in ROWS] == [f"{of}.{n}" for of, numbers in CRITERIA.items() for n in numbers]
    assert Counter(level for _, level, _ in ROWS) == {"A": 31, "AA": 24}
    assert {result for _, _, result in ROWS} <= RESULTS


def test_the_counts_of_the_summary_are_those_of_the_tables() -> None:
    told = re.search(r"Of (\d+) criteria .*?, (\d+) are supported, (\d+) in part, and (\d+) do not apply", PAGE)
    assert told is not None
    found = Counter(result for _, _, result in ROWS)
    counts = [len(ROWS), found["supports"], found["partly"], found["does not apply"]]
    assert [int(number) for number in told.groups()] == counts and sum(counts[1:]) == len(ROWS)


def test_the_tests_that_it_names_exist() -> None:
    named = [name for name in re.findall(r"`((?:extension|tests|docs)/[^`]+)`", PAGE)]
    assert len(named) > 5 and [name for name in named if not (ROOT / name).exists()] == []
    helpers = (ROOT / "extension/ui-tests/helpers.js").read_text(encoding="utf-8")
    assert all(re.search(rf"\b{name}\b", helpers) for name in ("accessible", "readable", "largeEnough"))
