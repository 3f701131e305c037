"""Attackers in a class cost nobody else a grade, and the grader no memory."""

from typing import ClassVar

import pytest

from autograder.attacks.stage import attacks
from bench import attackers as bench
from bench import grading, kept
from bench.attackers import ANSWERED, ATTACKERS, AttackedClass, ClassRun
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
def test_a_class_of_200_with_20_attackers(capsys, tmp_path):
    assert play(["--students", "180", "--attackers", "20", "--kept", str(tmp_path / "rows.jsonl")]) == 0
    print(capsys.readouterr().out)


class PretendedClass:
    """A class that is graded without anything being run; the second time Ctrl-C is pressed, once."""

    runs: ClassVar[list[int]] = []

    def __init__(self, root, students, limits):
        self.honest, self.attackers = dict.fromkeys(range(students)), {}

    def attack(self, number):
        self.attackers = {f"s{n}-attacks": None for n in range(number)}

    def grade(self, workers):
        self.runs.append(len(self.attackers))
        if self.runs == [0, 2]:
            raise KeyboardInterrupt
        lines = tuple(f"✗ {name} 0/1" for name in self.attackers)
        return ClassRun(10.0 + len(lines), 300.0 + len(lines), lines, 5.0, (), ("s1-attacks: 1",) * (len(lines) > 2))


def test_a_run_that_was_cut_short_goes_on_and_its_figures_are_on_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "AttackedClass", PretendedClass)
    monkeypatch.setattr(PretendedClass, "runs", [])
    monkeypatch.setattr(kept, "code", lambda folders: "the same")
    page = tmp_path / "page.md"
    page.write_text("# How fast\n\n## Where the time goes\nHere.\n")
    words = ["--students", "8", "--attackers", "2", "--kept", str(tmp_path / "rows.jsonl"), "--write", str(page)]
    with pytest.raises(KeyboardInterrupt):
        play(words)
    assert play([*words, "--resume"]) == 0 and PretendedClass.runs == [0, 2, 2]
    assert play([*words, "--resume"]) == 0 and len(PretendedClass.runs) == 3
    said = capsys.readouterr()
    assert "8 students hand in" in said.err and "with them 12 s (1.20 times)" in said.out
    text = page.read_text()
    assert text.count(bench.HEADING) == 1 and text.startswith(
        "# How fast\n\n## Where the time goes\nHere.\n\n## A class"
    )
    assert "| with attackers | 10 | 12 | 5 | 302 | 0 |" in text and "1.0 s for each attacker" in text
    grading.write(page, "# How fast, again\n")
    assert page.read_text().startswith("# How fast, again\n") and page.read_text().count(bench.HEADING) == 1


def test_an_attacker_that_is_paid_or_has_two_lines_is_a_fault():
    before, lines = ClassRun(10.0, 300.0, ()), ("✗ eve 0/1", "✗ eve again", "✗ mal 0/1")
    after = ClassRun(11.0, 400.0, lines, 5.0, ("ada got nothing",), ("mal: 1",))
    faults = bench.Attacked(8, ["eve", "mal"], before, after).faults()
    assert faults == ["ada got nothing", "mal: 1", "the grader held 400 MB", "eve: 2 lines of the grader"]
