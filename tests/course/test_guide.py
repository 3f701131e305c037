"""The instructor's guides say what the course holds, and nothing else has to be kept in step with it."""

from __future__ import annotations

import pytest

import course
from autograder.diagnosis.diagnose import known_answers
from course import guide
from course.settings import read


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return {path.stem: path.read_text() for path in guide.write(tmp_path_factory.mktemp("guides"))}


def test_each_unit_has_one_with_its_exercises_points_and_misconceptions(written):
    minutes = {unit.name: unit.minutes for unit in read()}
    assert list(written) == [folder.name for folder in course.units()]
    for exercise in course.exercises():
        text = written[exercise.unit]
        wrong = known_answers(exercise)
        assert f"| `{exercise.id}` | {exercise.title} | {exercise.points:g} | {len(wrong)} |" in text
        assert all(f"- `{path.stem}`: " in text for path in wrong)
        assert text.splitlines()[2].startswith(f"{minutes[exercise.unit]} minutes planned · ")


def test_aims_and_questions_are_the_lessons(written):
    for name, text in written.items():
        aims, _, rest = text.partition("## On the way")
        assert "**The question.**" in aims, name
        assert "Pitfalls" in rest.partition("## Exercises")[0]
        assert "(2 points)\n\nHow to mark it:\n\n- " in rest and "MARK SCHEME" not in text


OWN = """
[[unit]]
name = "02-masks"
minutes = 45
due = 2026-10-12T18:00:00+02:00
exercises = ["masks.causal", "masks.softmax"]
points = {"masks.softmax" = 4}
"""


def test_a_course_of_ones_own_is_told_as_it_is_built(tmp_path, capsys):
    (tmp_path / "course.toml").write_text(OWN)
    assert guide.main([str(tmp_path)]) == 0
    (path,) = (tmp_path / "instructors").iterdir()
    assert capsys.readouterr().out == f"wrote {path}\n" and path.name == "02-masks.md"
    text = path.read_text()
    summary = text.splitlines()[2]
    assert summary.startswith("45 minutes planned · 2 exercises, 5 points, graded by the checks · ")
    assert summary.endswith(" · due 2026-10-12 18:00 +0200")
    assert "| 4 |" in line_of("masks.softmax", text) and "| given, solved |" in line_of("masks.padding", text)
    assert "### `masks.causal`: " in text and "### `masks.padding`" not in text


def line_of(exercise, text):
    (line,) = [line for line in text.splitlines() if line.startswith(f"| `{exercise}`")]
    return line


def test_a_unit_that_the_course_leaves_out_is_told_whole(tmp_path):
    (tmp_path / "course.toml").write_text(OWN)
    (path,) = guide.write(tmp_path, ["03-heads"])
    assert path.read_text().startswith("# 03 · Many heads") and "given, solved" not in path.read_text()


def test_what_differs_from_student_to_student_is_told_with_its_choices(written):
    drawn = {name: text for name, text in written.items() if "Drawn from each student's name" in text}
    assert list(drawn) == ["02-masks", "03-heads"]
    assert "`letters` from 10, 11, 12, 13, 14; `seed` from 0 to 99." in drawn["02-masks"]


def test_an_unknown_unit_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        guide.main([str(tmp_path), "--unit", "99-none"])
    assert stop.value.code == 1 and "99-none" in capsys.readouterr().err


def test_a_misspelt_folder_is_not_made(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        guide.main([str(tmp_path / "nosuch")])
    assert end.value.code == 1 and "there is no course in" in capsys.readouterr().err
    assert not (tmp_path / "nosuch").exists()
