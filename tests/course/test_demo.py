"""The demo on two units and four students, by the real engine and the real commands."""

from pathlib import Path

import pytest

from course import exercises
from course.demo import Demo
from course.mock_class import ALL, HEADS, STUDENTS, in_notebook

SMALL = ("ada", "nora", "jana", "emil", "marek")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    chosen = [student for student in STUDENTS if student.name in SMALL]
    return Demo(tmp_path_factory.mktemp("demo"), chosen, (HEADS,))


@pytest.mark.nightly  # CI runs `make demo` itself, twice
@pytest.mark.slow
def test_small_class_gets_what_it_should(demo):
    assert demo.run() == 0
    before = demo.outcomes()
    assert demo.run() == 0  # a second run finds everything there
    assert demo.outcomes() == before


def test_the_class_is_as_varied_as_it_should_be():
    assert len(STUDENTS) >= 12
    assert len({student.name for student in STUDENTS}) == len(STUDENTS)
    assert all(set(student.units) <= set(ALL) for student in STUDENTS)
    known = {exercise.id: exercise for exercise in exercises()}
    for student in STUDENTS:
        for kind, mistakes in (("wrong", student.wrong), ("edge", student.edge)):
            for name, misconception in mistakes.items():
                assert known[name].unit in student.units
                folder = Path(known[name].folder) / "submissions" / name / kind
                assert (folder / f"{misconception}.py").exists()


def test_an_answer_in_a_notebook_keeps_no_docstring_and_no_import_of_its_own_unit():
    exercise = next(exercise for exercise in exercises() if exercise.id == "attention.multi_head")
    text = '"""Told."""\nfrom tfkit.nn import (\n    masked_softmax,\n    split_heads,\n)\nx = 1\n'
    assert in_notebook(text, exercise) == "from tfkit.nn import masked_softmax\nx = 1\n"
