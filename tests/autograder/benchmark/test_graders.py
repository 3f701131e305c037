"""The graders that are compared: each says whom it follows, accepts what is right and rejects a gross mistake."""

from pathlib import Path

import pytest

from autograder import cli
from autograder.benchmark.grader import graders
from autograder.benchmark.measure import from_lines
from autograder.exercises import registry
from autograder.exercises.answers import answer, answers
from autograder.sandbox import choose

OTHERS = {name: grader for name, grader in graders().items() if name != "tfkit"}
PAIRS = [(name, one.id) for name, grader in OTHERS.items() for one in registry.exercises() if grader.covers(one)]
FIRST = {name: exercise for name, exercise in reversed(PAIRS)}
STUB = {"function": "def {}(*args, **kwargs):\n    return None\n", "class": "class {}:\n    pass\n"}


def test_each_says_what_it_follows_and_who_wrote_it():
    for name, grader in OTHERS.items():
        assert "this project" in grader.follows and grader.title, name
    assert {"nbgrader_asserts", "otter_doctests", "cs336_snapshots", "cmu_parameterized", "torchcode_tasks"} <= set(
        OTHERS
    )
    assert all(graders()["tfkit"].covers(exercise) for exercise in registry.exercises())


@pytest.mark.parametrize("name", OTHERS)
def test_a_right_answer_is_accepted_and_one_that_does_nothing_is_not(name):
    exercise, grader, backend = registry.find(FIRST[name]), OTHERS[name], choose()
    right = grader.judge(exercise, answers(exercise, "right")[0].read_text(), backend)
    assert right.accepted, right.why
    symbol = exercise.symbols[0]
    nothing = grader.judge(exercise, STUB["class" if symbol[0].isupper() else "function"].format(symbol), backend)
    assert not nothing.accepted and nothing.why


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "exercise"), PAIRS)
def test_every_right_answer_is_accepted(name, exercise):
    found = registry.find(exercise)
    judged = {one.stem: OTHERS[name].judge(found, one.read_text(), choose()) for one in answers(found, "right")}
    assert {stem: one.why for stem, one in judged.items() if not one.accepted} == {}


def test_ours_names_the_mistake():
    exercise = registry.find("masks.causal")
    found = graders()["tfkit"].judge(exercise, answer(exercise, "own_position_hidden").read_text(), choose())
    assert not found.accepted and found.misconception == "own_position_hidden" and found.values


def test_the_command_judges_a_sample_and_goes_on_where_it_stopped(tmp_path, capsys):
    command = ["benchmark", "run", "--grader", "nbgrader_asserts", "--exercise", "masks.causal", "--sample", "1"]
    for workers in ("2", "1"):
        with pytest.raises(SystemExit) as ended:
            cli.main([*command, "-o", str(tmp_path), "--workers", workers])
        assert ended.value.code == 0
    results = from_lines((tmp_path / "results.jsonl").read_text())
    assert sorted(one.kind for one in results) == ["right", "wrong"], "the second run had nothing left to ask"
    table = (tmp_path / "table.md").read_text()
    assert "plain asserts" in table and "0/1 (0 %)" in table and table in capsys.readouterr().out


def test_the_command_judges_answers_by_other_hands_instead(capsys):
    command = ["benchmark", "run", "--grader", "nbgrader_asserts", "--exercise", "masks.causal", "--sample", "1"]
    blind = Path(__file__).parents[2] / "blind"
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--blind", str(blind)])
    told = capsys.readouterr().out
    assert ended.value.code == 0 and "Dataset blind+" in told and "plain asserts" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--grader", "pytest"], "there is no grader pytest; available: cmu_parameterized"),
        (["run", "--sample", "0", "--grader", "tfkit"], "--sample 0 leaves no answers"),
        (["run", "--workers", "0", "--grader", "tfkit"], "--workers 0 must be 1 or more"),
        (["run", "--exercise", "masks.casual"], "did you mean masks.causal"),
    ],
)
def test_what_makes_no_sense_is_one_line(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["benchmark", *words])
    err = capsys.readouterr().err
    assert ended.value.code == 2 and said in err and err.count("\n") == 1
