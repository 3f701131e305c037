"""The syllabus is what the course says: its page, the drawing, the table in README.md, and the estimate behind them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from course import demo, mock_class, units
from course.settings import Unit, read, tracks
from tools.syllabus import ROOT, __main__, graph, page, weeks
from tools.syllabus.needs import direct, from_the_library, imported_names, needs
from tools.syllabus.workload import Workload, workload


@pytest.fixture(scope="module")
def found():
    return needs(read())


def test_page_drawing_and_readme_are_as_the_course_is():
    for name, text in __main__.files().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name} is old: run python -m tools.syllabus"


def test_minutes_of_units_are_near_the_rules():
    """A changed lesson may move them by a fifth before course.toml has to follow."""
    folders = {folder.name: folder for folder in units()}
    for unit in read():
        rule = workload(folders[unit.name]).minutes
        assert abs(unit.minutes - rule) <= max(15, rule / 5), f"{unit.name}: the rule says {rule:.0f} minutes"


def test_the_rule_adds_up_what_a_unit_has():
    assert Workload().minutes == 0
    assert Workload(words=400, lines=24, predictions=2).minutes == 2 + 2 + 3
    assert Workload(exercises=1, written=10, answers=1, seconds=120).minutes == 5 + 15 + 8 + 2


def test_the_core_is_what_the_demo_releases():
    assert list(tracks()["core"].units) == list(mock_class.ALL)
    assert demo.ALL is mock_class.ALL


def test_a_unit_needs_those_whose_functions_it_imports(found):
    assert "sinusoidal_positions" in found["05-transformer"]["04-positions"]
    assert found["01-recurrence-to-attention"] == {}
    assert found["16-looking-inside"] == {"03-heads": ()}, "ideas alone, as course.toml says"
    for unit, before in found.items():
        assert all(other < unit for other in before)


def test_only_imports_from_tfkit_count():
    assert list(imported_names("from tfkit.nn import a, b as c\nfrom torch import d\nimport tfkit")) == ["a", "b"]


def test_needs_that_others_imply_are_not_drawn():
    assert direct({"a": {}, "b": {"a": 1}, "c": {"a": 1, "b": 1}}) == {"a": [], "b": ["a"], "c": ["b"]}


def test_a_track_says_what_it_takes_from_units_that_it_leaves_out(found):
    left_out = from_the_library(tracks()["core"].units, found)
    assert left_out == {"04-positions": {"05-transformer": ("sinusoidal_positions",)}}


def test_a_track_never_leaves_out_a_unit_whose_ideas_another_takes_up(found):
    for track in tracks().values():
        for unit in track.units:
            ideas = [other for other, functions in found[unit].items() if not functions]
            assert set(ideas) <= set(track.units), f"{track.name}: {unit}"


def test_weeks_are_as_even_as_the_order_allows():
    course = [Unit(name=name, minutes=minutes) for name, minutes in (("a", 60), ("b", 50), ("c", 100), ("d", 240))]
    plan = weeks.plan(course, 3)
    assert [[(one.unit, one.half) for one in week] for week in plan] == [
        [("a", 0), ("b", 0), ("c", 0)],
        [("d", 1)],
        [("d", 2)],
    ]
    with pytest.raises(ValueError, match="5 sittings cannot fill 6 weeks"):
        weeks.plan(course, 6)


def test_the_hours_of_the_weeks_add_up_to_those_of_the_table():
    text = page.write_page()
    whole = dict(re.findall(r"(?m)^\| ([^|\n]+) \| (?:[\d, ]+|all) \| ([\d.]+) \|", text))
    plans = re.findall(r"(?m)^\*\*(.+)\*\*\n\n((?:\|.*\n)+)", text)
    assert [title for title, _ in plans] == ["Core", "Models of today", "The zoo", "All"]
    for title, rows in plans:
        weeks = [float(hours) for hours in re.findall(r"(?m) ([\d.]+) \|$", rows)]
        assert len(weeks) in page.PLANS and sum(weeks) == float(whole[title]), title


def test_the_drawing_has_a_box_for_each_unit_and_follows_the_scheme(found):
    text = graph.draw(read(), found, tracks()["core"].units)
    tree = ElementTree.fromstring(text)
    boxes = tree.findall("{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == len(read()) and [box.get("class") for box in boxes].count("core") == 5
    assert "prefers-color-scheme: dark" in text
    assert len(set((box.get("x"), box.get("y")) for box in boxes)) == len(boxes), "no two in one place"


def test_a_readme_without_a_place_for_the_table_is_refused():
    with pytest.raises(ValueError, match=re.escape(page.END)):
        page.with_tracks("# tfkit\n")
