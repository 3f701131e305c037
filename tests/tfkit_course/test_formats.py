"""The table of formats: the handbook's is this one, and what a release reads is what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfkit_course.formats import FORMATS, MARKING, is_newer, too_new, write_table

PAGE = Path(__file__).parents[2] / "docs/upgrades.md"


def test_the_handbook_shows_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == write_table(page), "run `python -m tfkit_course.formats docs/upgrades.md`"
    assert all(one.row in page for one in FORMATS)


def test_a_page_without_the_section_is_refused() -> None:
    with pytest.raises(ValueError, match="no such section"):
        write_table("# Upgrades\n")


@pytest.mark.parametrize(
    ("found", "newer"), [(1, False), (0, False), (2, True), ("1", True), (None, True), (True, True), (1.0, True)]
)
def test_what_is_no_version_of_ours_counts_as_newer(found: object, newer: bool) -> None:
    assert is_newer(found, MARKING) is newer


def test_the_sentence_says_what_to_install() -> None:
    assert too_new("x", 3, MARKING, "0.4.0").startswith("x has format 3, and this release of tfkit reads 1: install "
                                                        "tfkit-course 0.4.0 or later (README.md")  # fmt: skip
    assert "install a later release of tfkit-course (README.md, " in too_new("x", 3, MARKING)
