"""Numbers of one's own: the same at each run, others for others, and known to who teaches."""

from __future__ import annotations

import collections
import shutil

import pytest

import course
from autograder import variant
from course import variants
from course.settings import LessonError

CHOICES = {"letters": [10, 12, 14], "seed": range(100)}


def test_the_same_for_one_student_and_others_for_others():
    names = [f"student{n}" for n in range(300)]
    drawn = [vars(variant("02-masks", name, **CHOICES)) for name in names]
    assert drawn == [vars(variant("02-masks", name, **CHOICES)) for name in names]
    often = collections.Counter(one["letters"] for one in drawn)
    assert set(often) == {10, 12, 14} and min(often.values()) > 60
    assert len({one["seed"] for one in drawn}) > 80
    assert drawn != [vars(variant("03-heads", name, **CHOICES)) for name in names]


def test_a_further_choice_changes_no_other():
    more = variant("02-masks", "ada", **CHOICES, word=["cat", "dog"])
    assert (more.letters, more.seed) == tuple(vars(variant("02-masks", "ada", **CHOICES)).values())


def test_who_works_here_is_asked_of_the_hub_then_of_the_machine(monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    assert variant("02-masks", **CHOICES) == variant("02-masks", "ada", **CHOICES)
    monkeypatch.delenv("JUPYTERHUB_USER")
    monkeypatch.setattr("getpass.getuser", lambda: "ben")
    assert variant("02-masks", **CHOICES) == variant("02-masks", "ben", **CHOICES)


def test_nothing_to_choose_from_is_told():
    with pytest.raises(ValueError, match="variant: seed has no values to choose from"):
        variant("02-masks", "ada", seed=[])


def test_the_command_tells_what_the_lesson_draws(capsys):
    assert variants.main(["02-masks", "ada", "ben"]) == 0
    said = capsys.readouterr().out
    (folder,) = [folder for folder in course.units() if folder.name == "02-masks"]
    mine = variant("02-masks", "ada", **variants.choices(folder))
    (row,) = [line for line in said.splitlines() if "ada" in line]
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["ada", str(mine.letters), str(mine.seed)]


@pytest.mark.parametrize(
    ("unit", "said"), [("99-none", "no unit is called '99-none'"), ("05-transformer", "is the same for all students")]
)
def test_the_command_tells_where_there_is_nothing(unit, said, capsys):
    with pytest.raises(SystemExit) as stop:
        variants.main([unit, "ada"])
    assert stop.value.code == 1 and said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("variant('03-heads', seed=[1])", "must begin with the unit's name"),
        ("variant('02-masks', seed=LENGTH)", "write a list or a range"),
    ],
)
def test_a_lesson_that_draws_in_another_way_is_named(call, said, tmp_path):
    (folder,) = [folder for folder in course.units() if folder.name == "02-masks"]
    shutil.copytree(folder, tmp_path / "02-masks")
    lesson = tmp_path / "02-masks" / "lesson.py"
    lesson.write_text(lesson.read_text().replace("LETTERS, LENGTH, WIDTH =", f"{call}\nLETTERS, LENGTH, WIDTH ="))
    with pytest.raises(LessonError, match=said):
        variants.choices(tmp_path / "02-masks")
