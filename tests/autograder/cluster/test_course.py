"""A configuration that cannot be read, or is another one, is refused: it would grade without the sandbox."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from autograder import doctor
from autograder.cluster.bundle import Key
from autograder.cluster.course import BadCourse, Course, check_course, missing_settings, settings_of
from autograder.cluster.records import Records
from autograder.nbgrader import config

BROKEN = {
    "c.x = = 3": "SyntaxError: invalid syntax",
    "c.LatePolicy.grace_minutes = minutes": "NameError: name 'minutes' is not defined",
    "c.CourseDirectory.course_id = 3": "a setting has a value of the wrong type",
}


@pytest.fixture
def root(tmp_path):
    """A course's folder with the shipped configuration."""
    config.install(tmp_path)
    return tmp_path


def add(root, line):
    """Write the line at the end of the configuration."""
    with (root / config.CONFIG).open("a") as file:
        file.write(f"\n{line}\n")


@pytest.mark.parametrize("line", BROKEN)
def test_a_configuration_that_cannot_be_read_is_refused_with_its_place(root, line):
    settings_of(root)
    add(root, line)
    with pytest.raises(BadCourse) as error:
        settings_of(root)
    said = str(error.value)
    assert said.startswith(f"{root / config.CONFIG}") and BROKEN[line] in said and "repair it" in said
    assert "\n" not in said and "nbgrader autograde" not in said
    if "Error" in BROKEN[line]:
        number = (root / config.CONFIG).read_text().splitlines().index(line) + 1
        assert f"line {number}" in said


def test_the_doctor_names_the_settings_that_an_older_configuration_lacks(root, monkeypatch):
    monkeypatch.chdir(root)
    assert missing_settings(root) == [] and len(doctor._course(root)[0]) == 1
    path = root / config.CONFIG
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(("c.BoxedExecute.credit", "c.Exchange."))))
    add(root, "c.Exchange.root = '/srv/exchange'")  # another value is no lack
    assert missing_settings(root) == ["c.Exchange.cache", "c.BoxedExecute.credit"]
    (first, second), usable = doctor._course(root)
    assert usable and "in order" in first and "c.Exchange.cache, c.BoxedExecute.credit" in second


@pytest.mark.parametrize(
    "line, said",
    [
        ("c.Autograde.autograde_preprocessors = ['nbgrader.preprocessors.Execute']", "c.Autograde.autograde_prepro"),
        ("c.BoxedExecute.limits = {'call_s': 'long'}", "c.BoxedExecute"),
        ("c.BoxedExecute.key_file = '/nowhere'", "no course key at /nowhere"),
    ],
)
def test_the_doctor_checks_the_course_that_it_is_run_in(root, line, said, monkeypatch):
    monkeypatch.setattr(doctor, "_sandbox", lambda kind: [])  # to try each takes seconds
    monkeypatch.setattr(doctor, "choose", lambda: type("Some", (), {"name": "some"}))
    monkeypatch.chdir(root.parent)
    assert not any(line.startswith("course") for line in doctor.report()[0])
    monkeypatch.chdir(root)
    lines, sound = doctor.report()
    assert sound and lines[-1] == f"course       {root}: its nbgrader_config.py and course.toml are in order"
    add(root, line)
    with pytest.raises(BadCourse):
        check_course(root)
    lines, sound = doctor.report()
    assert not sound and lines[-1].startswith("course       REFUSED: ") and said in lines[-1]


def test_a_misspelt_table_of_course_toml_is_told_by_the_doctor_and_before_a_class_is_graded(root):
    check_course(root)
    Course(root, "02-masks")
    (root / "course.toml").write_text("[asistants]\nhints = 0\n")
    message = r"course\.toml has \[asistants\], .*did you mean \[assistants\]\?$"
    for refuse in (lambda: check_course(root), lambda: Course(root, "02-masks")):
        with pytest.raises(BadCourse, match=message):
            refuse()
    lines, sound = doctor._course(root)
    assert not sound and "did you mean [assistants]?" in lines[0]


def test_the_stock_commands_stop_too_where_the_environment_says_so(root):
    add(root, next(iter(BROKEN)))
    asked = os.environ | {"TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR": "1"}
    words = [sys.executable, "-m", "nbgrader", "autograde", "02-masks"]
    done = subprocess.run(words, cwd=root, env=asked, capture_output=True, text=True)
    assert done.returncode == 1 and "SyntaxError" in done.stderr and "AutogradeApp" not in done.stderr


def test_a_gradebook_that_was_lost_is_not_taken_for_a_new_one(root):
    settings_of(root)
    with pytest.raises(BadCourse, match="run `nbgrader generate_assignment unit` first"):
        _ = Course(root, "unit").released
    key = Key("ada", "unit", "s" * 64, "c" * 64)
    with Records(root) as records:
        records.mark_committed(records.begin_round("unit", regrade=False), key)
    with pytest.raises(BadCourse, match=r"records.db has 1 graded attempts: .*`autograder restore`"):
        _ = Course(root, "unit").released
    with pytest.raises(BadCourse, match="generate_assignment other"):
        _ = Course(root, "other").released
