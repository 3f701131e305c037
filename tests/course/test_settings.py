"""A course directory's own course.toml: a choice of units and exercises, their points, their due dates."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearSolutions

import course
from autograder.assistants.rules import read_rules
from autograder.cluster import teams
from autograder.nbgrader import config
from autograder.settings import capstone
from autograder.settings.course_file import TRACKS, UNIT
from course import build as builder
from course import settings
from course.due import set_due_dates
from course.settings import LessonError

OWN = """
[[unit]]
name = "02-masks"
due = 2026-10-12T18:00:00+02:00
exercises = ["masks.causal", "masks.softmax"]
points = {"masks.softmax" = 4}

[[unit]]
name = "01-recurrence-to-attention"
title = "Looking back"
"""


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "course.toml").write_text(OWN)
    return tmp_path


def read(directory, name="02-masks"):
    return nbformat.read(directory / "source" / name / f"{name}.ipynb", as_version=4)


def test_the_whole_course_where_there_is_no_own(tmp_path):
    assert [unit.name for unit in settings.read(tmp_path)] == [unit.name for unit in course.units()]
    assert settings.read(tmp_path) == settings.read()
    assert all(unit.title and unit.minutes and unit.exercises is None for unit in settings.read())


def test_units_in_their_order_with_the_titles_that_are_not_given(directory):
    masks, first = settings.read(directory)
    assert (masks.name, masks.title, masks.minutes) == ("02-masks", "Masks", 75)
    assert (first.title, first.due) == ("Looking back", None)


def test_only_the_chosen_are_asked_and_the_others_are_given(directory):
    builder.build(directory)
    assert read(directory).metadata.tfkit.due == "2026-10-12T18:00:00+02:00"  # for the course's home page
    assert read(directory).metadata.tfkit.minutes == 75
    assert sorted(path.name for path in (directory / "source").iterdir()) == ["01-recurrence-to-attention", "02-masks"]
    cells = read(directory).cells
    asked = {cell.metadata.tfkit.exercise: cell.metadata.nbgrader.points for cell in cells if role(cell) == "check"}
    assert asked == {"masks.causal": 1, "masks.softmax": 4}
    released, _ = ClearSolutions().preprocess(read(directory), {})
    (given,) = [cell for cell in released.cells if "def padding_mask" in cell.source]
    assert role(given) == "setup" and given.metadata.nbgrader.locked and "SOLUTION" not in given.source
    assert given.source.startswith("# given in this course") and "raise NotImplementedError" not in given.source
    namespace: dict = {}
    exec(f"import torch\n{given.source}", namespace)
    assert namespace["padding_mask"](namespace["torch"].tensor([[1, 0]]), 0).tolist() == [[[[True, False]]]]


def role(cell):
    return cell.metadata.get("tfkit", {}).get("role")


def test_the_command_writes_the_due_date_once_and_the_configuration(directory, capsys):
    def run():
        assert builder.main([str(directory), "--unit", "02-masks"]) == 0
        return capsys.readouterr().out

    said = run()
    assert "due       02-masks: 2026-10-12 18:00 +0200" in said and (directory / "nbgrader_config.py").exists()
    with Gradebook(f"sqlite:///{directory / 'gradebook.db'}", "tfkit") as gradebook:
        assert gradebook.find_assignment("02-masks").duedate.isoformat() == "2026-10-12T16:00:00"
    assert "due" not in run()


def test_the_language_of_the_course_is_kept_by_a_later_build(tmp_path):
    (tmp_path / "course.toml").write_text('language = "fr"\n[[unit]]\nname = "02-masks"\n')
    builder.build(tmp_path)
    assert read(tmp_path).metadata.tfkit.language == "fr"
    assert not builder.build(tmp_path)[0].changed
    builder.build(tmp_path, language="en")
    assert "language" not in read(tmp_path).metadata.tfkit


def test_due_dates_go_to_the_gradebook_that_the_course_has(directory):
    config.install(directory)
    with (directory / "nbgrader_config.py").open("a") as file:
        file.write("\nc.CourseDirectory.db_url = f\"sqlite:///{HERE / 'grades.db'}\"\n")
        file.write('c.CourseDirectory.course_id = "nlp"\n')
    assert set_due_dates(directory)
    with Gradebook(f"sqlite:///{directory / 'grades.db'}", "nlp") as gradebook:
        assert gradebook.find_assignment("02-masks").duedate.isoformat() == "2026-10-12T16:00:00"
    assert not (directory / "gradebook.db").exists()


def test_a_due_date_whose_line_is_gone_is_cleared_but_not_one_from_the_formgrader(tmp_path):
    config.install(tmp_path)
    file = tmp_path / "course.toml"
    none = '[[unit]]\nname = "02-masks"\n'

    def build(text):
        file.write_text(text)
        said = set_due_dates(tmp_path)
        with book as gradebook:
            return said, gradebook.find_assignment("02-masks").duedate

    file.write_text(none)
    assert set_due_dates(tmp_path) == [] and not (tmp_path / "gradebook.db").exists()
    book = Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "tfkit")
    dated = f"{none}due = 2026-10-12T18:00:00+02:00\n"
    assert build(dated)[1].isoformat() == "2026-10-12T16:00:00"
    assert build(none) == (["due       02-masks: none"], None) and build(none) == ([], None)
    build(dated)
    with book as gradebook:
        gradebook.update_or_create_assignment("02-masks", duedate="2026-10-20 10:00:00 UTC")
    said, due = build(none)
    assert due.isoformat() == "2026-10-20T10:00:00" and "keeps 2026-10-20 10:00 UTC" in said[0] and len(said) == 1
    assert "nbgrader db assignment add 02-masks" in said[0]


def test_a_folder_that_takes_nothing_is_said_in_a_line(capsys):
    with pytest.raises(SystemExit) as end:
        builder.main(["/proc/no-course", "--unit", "02-masks"])
    said = capsys.readouterr().err
    assert end.value.code == 1 and said.startswith("course.build: /proc/no-course") and said.count("\n") == 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("x = ", "is not TOML"),
        ("title = 'none'", "names no unit"),
        ("[[unit]]\nname = '99-none'", "no unit is called '99-none'; available: 01-"),
        ("[[unit]]\nname = '02-masks'\ndeu = 1", "has 'deu', which is not one of name, title"),
        ("[[unit]]\nname = '02-masks'\ndue = 2026-10-12T18:00:00", "must be date, time and offset"),
        ("[[unit]]\nname = '02-masks'\ndue = 2026-10-12", "must be date, time and offset"),
        ("[[unit]]\nname = '02-masks'\nexercises = []", "must be a list of ids"),
        ("[[unit]]\nname = '02-masks'\nexercises = ['rnn.cell']", "has no exercise 'rnn.cell'; available: masks"),
        ("[[unit]]\nname = '02-masks'\npoints = {'masks.causal' = 'two'}", "must be numbers by exercise"),
        ("[[unit]]\nname = '02-masks'\npoints = {'masks.none' = 2}", "has no exercise 'masks.none'"),
        (
            "[[unit]]\nname = '02-masks'\nexercises = ['masks.causal']\npoints = {'masks.softmax' = 2}",
            "masks.softmax has points, but is not among its exercises",
        ),
        ("language = 3\n[[unit]]\nname = '02-masks'", "must be a gettext language code"),
        ("language = 'de'\n[[unit]]\nname = '02-masks'", "no unit is translated into 'de'; available: fr"),
        ("[[unit]]\nname = '02-masks'\n[[unit]]\nname = '02-masks'", "02-masks is used twice"),
        ("weights = 3\n[[unit]]\nname = '02-masks'", "[weights] must be a table"),
        (
            "[[unit]]\nname = '02-masks'\n[weights]\nspeed = 1",
            "[weights] has 'speed', which is not one of values, shapes",
        ),
        ("[[unit]]\nname = '02-masks'\n[weights]\nedges = -1", "edges = -1 must be a number, 0 or more"),
        ("[[unit]]\nname = '02-masks'\n[weights]\ncost = inf", "cost = inf must be a number, 0 or more"),
        ("[[unit]]\nname = '02-masks'\n[weights]\nvalues = 0", "values = 0 must be a number above 0, or right"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path, text, message):
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(LessonError) as error:
        builder.build(tmp_path)
    assert message in str(error.value) and "\n" not in str(error.value).strip()
    with pytest.raises(SystemExit):
        builder.main([str(tmp_path)])


PAGE = (Path(__file__).parents[2] / "docs/settings.md").read_text(encoding="utf-8")


def test_a_unit_has_a_field_for_each_key_of_its_table():
    of_the_course = ["tracks", "earlier", "sure", "variants", "own_variants", "ordered"]
    assert [field.name for field in fields(settings.Unit)] == [*UNIT.names, *of_the_course]
    assert {field.name for field in fields(settings.Track)} == set(TRACKS.names)


CORE = ["01-recurrence-to-attention", "02-masks", "03-heads", "05-transformer", "07-decoding"]


def test_a_track_names_the_units_and_their_tables_only_change_them(tmp_path):
    (tmp_path / settings.FILE).write_text('track = "core"\n[[unit]]\nname = "03-heads"\nminutes = 50\n')
    found = settings.read(tmp_path)
    assert [unit.name for unit in found] == CORE
    assert [unit.minutes for unit in found if unit.name in CORE[1:3]] == [75, 50]
    assert all(list(unit.tracks) == ["core"] and unit.tracks["core"].title == "Core" for unit in found)
    assert len(settings.read(track="inside")) == 7


def test_a_course_tells_the_tracks_that_it_has_whole(directory):
    assert settings.read(directory)[0].tracks == {}, "two units are no track"
    (first, *_) = settings.read()
    assert list(first.tracks) == ["core", "today", "zoo", "inside", "fast"]


def test_a_course_may_have_a_track_of_its_own(tmp_path):
    own = 'track = "mine"\n[[tracks]]\nname = "mine"\nunits = ["02-masks"]\n'
    (tmp_path / settings.FILE).write_text(own)
    (found,) = settings.read(tmp_path)
    assert (found.name, list(found.tracks), found.tracks["mine"].title) == ("02-masks", ["mine"], "mine")


@pytest.mark.parametrize(
    "text, message",
    [
        ('track = "cor"', "no track is called 'cor'; available: core, today"),
        ('track = "core"\n[[unit]]\nname = "04-positions"', "unit 04-positions is not in the track core"),
        (
            '[[tracks]]\nname = "mine"\nunits = ["02-mask"]\n[[unit]]\nname = "02-masks"',
            "track mine has '02-mask', which is no unit",
        ),
        ('[[unit]]\nname = "02-masks"\nneeds = ["01"]', "needs has '01', which is no unit"),
    ],
)
def test_a_track_or_a_need_that_cannot_be_is_refused_by_name(tmp_path, text, message):
    (tmp_path / settings.FILE).write_text(text)
    with pytest.raises(LessonError, match=re.escape(message)):
        settings.read(tmp_path)


def test_one_track_is_built_from_the_command_line(tmp_path, capsys):
    assert builder.main([str(tmp_path), "--track", "core"]) == 0
    assert sorted(path.name for path in (tmp_path / "source").iterdir()) == CORE
    assert read(tmp_path).metadata.tfkit.tracks == [["core", "Core", 5]]
    with pytest.raises(SystemExit):
        builder.main([str(tmp_path), "--track", "core", "--unit", "02-masks"])
    assert "pass one of them" in capsys.readouterr().err


def test_a_track_of_the_command_line_needs_no_table_of_a_unit(tmp_path, capsys):
    (tmp_path / settings.FILE).write_text("[weights]\ngradients = 2\n")
    assert builder.main([str(tmp_path), "--track", "core"]) == 0
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in (tmp_path / "source").iterdir()) == CORE


def test_a_track_of_the_command_line_leaves_out_other_units_tables(tmp_path):
    """It stands above the file, so that a course of the file's own units may be built as a track as well."""
    tables = '[[unit]]\nname = "08-encoders"\n[[unit]]\nname = "02-masks"\nminutes = 50\ndue = 2026-10-12T18:00:00Z\n'
    (tmp_path / settings.FILE).write_text(f'track = "zoo"\n{tables}')
    found = settings.read(tmp_path, "core")
    assert [unit.name for unit in found] == CORE and found[1].minutes == 50
    config.install(tmp_path)
    assert set_due_dates(tmp_path, track="core") == ["due       02-masks: 2026-10-12 18:00 +0000"]
    (tmp_path / settings.FILE).write_text(tables.replace("08-encoders", "08-encoder"))
    with pytest.raises(LessonError, match="no unit is called '08-encoder'"):
        settings.read(tmp_path, "core")


def test_the_examples_of_the_page_of_settings_are_valid(tmp_path):
    own, team = re.findall(r"(?s)```toml\n(.*?)```", PAGE)
    (tmp_path / settings.FILE).write_text(own)
    (tmp_path / teams.FILE).write_text(team)
    assert [unit.name for unit in settings.read(tmp_path)] == ["02-masks", "17-capstone"]
    assert settings.language_of(tmp_path) == "fr" and read_rules(tmp_path).hints == 2
    assert capstone.read(tmp_path) == capstone.Terms()
    assert teams.read(tmp_path, "03-heads") == {"red": ["ada", "ben"]}
