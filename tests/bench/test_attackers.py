"""Attackers in a class cost nobody else a grade, and the grader no memory."""

import pytest

from autograder.attacks.stage import attacks
from bench.attackers import ANSWERED, ATTACKERS, AttackedClass
from bench.attackers import main as play
from course import truth
from course.mock_class import FIRST


def test_the_attackers_are_those_of_the_doctor():
    known = {one.name: one for one in attacks()}
    assert all(name in known and known[name].worth == 0 for name in ATTACKERS)
    assert ANSWERED in {exercise.id for exercise in truth.exercises_of(FIRST)}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_small_class_with_attackers_gets_its_grades(tmp_path):
    students = AttackedClass(tmp_path / "course", 9, {"call_s": 2.0, "wall_s": 30.0, "memory_mb": 512, "processes": 16})
    before = students.grade(1)
    assert students.wrong_grades() == [] and len(before.lines) == 9
    students.attack(3)
    after = students.grade(1)
    assert students.wrong_grades() == [] and students.paid() == []
    assert len(after.lines) == 12 and all(len(after.lines_of(name)) == 1 for name in students.attackers)
    assert after.memory_mb < 1.1 * before.memory_mb + 30


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_class_of_200_with_20_attackers(capsys):
    assert play(["--students", "180", "--attackers", "20"]) == 0
    print(capsys.readouterr().out)
