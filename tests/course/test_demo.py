"""The demo on two units and four students, by the real engine and the real commands."""

import shutil

import pytest

from autograder.exercises.answers import answers
from autograder.nbgrader import config
from course import build, exercises
from course.demo import Demo, DemoError, other_units
from course.mock_class import ALL, HEADS, STUDENTS, class_of, in_notebook, main
from course.release import generate
from course.settings import unit_names

SMALL = ("ada", "nora", "jana", "emil", "marek")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    chosen = [student for student in STUDENTS if student.name in SMALL]
    return Demo(tmp_path_factory.mktemp("demo"), chosen, (HEADS,))


@pytest.mark.nightly  # CI runs `make demo AGAIN=1` itself
@pytest.mark.slow
def test_small_class_gets_what_it_should(demo):
    assert demo.run_twice() == 0


class StepsAlone(Demo):
    """A class of which only the commands are kept that its steps would run."""

    def __init__(self, root, forgets):
        super().__init__(root, (), ())
        self.forgets, self.grades = forgets, [{}, {}]

    def take_steps(self):
        if self.forgets or not self.is_finished:
            self.nbgrader("autograde", HEADS)

    def outcomes(self):
        return self.grades.pop(0)

    def run(self):
        self.nbgrader = lambda *_: None
        self.take_steps()
        del self.nbgrader
        return 0


def test_a_step_that_is_not_kept_is_named(tmp_path):
    assert StepsAlone(tmp_path, forgets=False).run_twice() == 0
    with pytest.raises(DemoError, match=f"nbgrader autograde {HEADS} would run again, though nothing has changed"):
        StepsAlone(tmp_path, forgets=True).run_twice()
    other = StepsAlone(tmp_path, forgets=False)
    other.grades = [{}, {("ada", "masks.causal"): None}]
    with pytest.raises(DemoError, match="the grades are others"):
        other.run_twice()


def test_the_lab_has_all_units_and_the_class_some():
    assert sorted([*ALL, *other_units()]) == sorted(unit_names())


def test_a_unit_that_nobody_takes_is_released_without_its_solutions(tmp_path):
    config.install(tmp_path)
    build.build(tmp_path, ["09-decoders"])
    generate(tmp_path, "09-decoders")
    made = (tmp_path / "release" / "09-decoders" / "09-decoders.ipynb").read_text(encoding="utf-8")
    assert "raise NotImplementedError" in made and "BEGIN SOLUTION" not in made


def test_the_class_is_as_varied_as_it_should_be():
    assert len(STUDENTS) >= 12
    assert len({student.name for student in STUDENTS}) == len(STUDENTS)
    assert all(set(student.units) <= set(ALL) for student in STUDENTS)
    known = {exercise.id: exercise for exercise in exercises()}
    for student in STUDENTS:
        for kind, mistakes in (("wrong", student.wrong), ("edge", student.edge)):
            for name, misconception in mistakes.items():
                assert known[name].unit in student.units
                assert misconception in [one.stem for one in answers(known[name], kind)]


def test_an_answer_in_a_notebook_keeps_no_docstring_and_no_import_of_its_own_unit():
    exercise = next(exercise for exercise in exercises() if exercise.id == "attention.multi_head")
    text = '"""Told."""\nfrom tfkit.nn import (\n    masked_softmax,\n    split_heads,\n)\nx = 1\n'
    assert in_notebook(text, exercise) == "from tfkit.nn import masked_softmax\nx = 1\n"


def test_a_unit_that_nobody_of_the_class_takes_is_answered_too():
    students = class_of("04-positions")
    wrong = [name for student in students for name in student.wrong]
    assert len(students) == 6 and len(wrong) == 3 and all(name.startswith("positions.") for name in wrong)
    assert class_of(HEADS) == [student for student in STUDENTS if HEADS in student.units]


def test_a_command_hands_the_class_in_for_nbgrader_to_collect(tmp_path, monkeypatch, capsys):
    """`python -m course.mock_class my-course UNIT`, as docs/first-day.md has it between release and collect."""
    build.build(tmp_path, [HEADS])
    config.install(tmp_path)
    with pytest.raises(SystemExit):
        main([str(tmp_path), HEADS])
    assert "is not released" in capsys.readouterr().err
    for step in ("release", f"exchange/tfkit/outbound/{HEADS}", "exchange/tfkit/inbound"):  # as nbgrader leaves them
        (tmp_path / step).mkdir(parents=True)
    shutil.copytree(tmp_path / "source" / HEADS, tmp_path / "release" / HEADS)
    monkeypatch.chdir(tmp_path.parent)
    assert main([str(tmp_path), HEADS]) == 0
    said = capsys.readouterr().out.splitlines()
    takers = class_of(HEADS)
    assert len(said) == len(takers) + 1 and f"nbgrader collect {HEADS}" in said[-1]
    handed_in = sorted(path.name.partition("+")[0] for path in (tmp_path / "exchange/tfkit/inbound").iterdir())
    assert handed_in == sorted(student.name for student in takers)
