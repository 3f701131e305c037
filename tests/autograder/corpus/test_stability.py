"""Whatever is drawn, the points are the same: right answers pass in a box, wrong ones fail, edges keep their share."""

import pytest
import torch

from autograder import cli
from autograder.checks import Case, edges, values
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Finding, collect_answers, questions
from autograder.corpus import stability
from autograder.corpus.judge import ask_reference
from autograder.corpus.stability import Stability, combine, judge_outcomes, measure_stability, outcome
from autograder.credit.distance import share_kept
from autograder.exercises import registry
from autograder.sandbox import choose

EXERCISES = registry.exercises()
MASKS = registry.find("masks.causal")


@pytest.mark.sampled(92)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_points_do_not_depend_on_the_seed(exercise):
    assert measure_stability(exercise, range(100, 102), choose()).complaints == []


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_points_do_not_depend_on_forty_seeds(exercise):
    assert measure_stability(exercise, range(40), choose()).complaints == []


FORGETFUL = """
import torch
calls = 0
def causal_mask(length):
    global calls
    calls += 1
    return torch.ones(length, length).tril() > (calls > {most})
"""


def test_a_right_answer_that_fails_after_other_seeds_is_asked_again_in_a_box_of_its_own(tmp_path, monkeypatch):
    """What it keeps in its globals would fail it from the third seed on."""
    namespace: dict = {"__name__": "answer"}
    exec(FORGETFUL.format(most=1_000_000), namespace)
    collect_answers(ask_reference(MASKS, 0), LocalSubject(namespace))
    path = tmp_path / "forgetful.py"
    path.write_text(FORGETFUL.format(most=2 * namespace["calls"]))
    monkeypatch.setattr(stability, "answers", lambda _, kind: [path] * (kind == "right"))
    measured = measure_stability(MASKS, range(4), choose())
    assert measured.right == 1 and measured.complaints == []


def test_a_wrong_answer_that_ends_its_box_is_asked_at_each_seed_all_the_same(tmp_path, monkeypatch):
    path = tmp_path / "ends_its_box.py"
    path.write_text("import os\ndef causal_mask(length):\n    os._exit(1)\n")
    monkeypatch.setattr(stability, "answers", lambda _, kind: [path] * (kind == "wrong"))
    measured = measure_stability(MASKS, range(3), choose())
    assert measured.wrong == 1 and measured.complaints == measured.notes == []


def found(kind: str, *outcomes: tuple[float, str]) -> Stability:
    stability = Stability("some.exercise", len(outcomes))
    judge_outcomes(stability, kind, f"{kind}/an_answer", dict(enumerate(outcomes, start=5)))
    return stability


def test_a_right_answer_must_pass_at_every_seed():
    assert found("right", (1.0, ""), (1.0, "")).sound
    failed = found("right", (1.0, ""), (0.7, "gradients: off by 1e-6"))
    assert failed.complaints == ["right/an_answer fails at 1 of 2 seeds (6); at 6: gradients: off by 1e-6"]
    assert not failed.sound and failed.unstable == failed.right == 1


def test_a_wrong_answer_must_fail_at_every_seed():
    assert found("wrong", (0.0, "why"), (0.0, "why")).sound
    assert found("wrong", (1.0, ""), (0.0, "why")).complaints == ["wrong/an_answer passes at 1 of 2 seeds (5)"]
    assert found("rewritten", (0.0, "why"), (1.0, "")).complaints == ["rewritten/an_answer passes at 1 of 2 seeds (6)"]


def test_a_wrong_answer_with_other_points_is_noted():
    noted = found("wrong", (0.0, "why"), (0.7, "why"), (0.7, "why"))
    assert noted.sound and noted.unstable == 0
    assert noted.notes == ["wrong/an_answer keeps 0.00 at 1 of 3 seeds (5), 0.70 at 2 of 3 seeds (6, 7)"]


def test_an_answer_that_is_wrong_at_edges_must_keep_its_points():
    assert found("edge", (0.8, "why"), (0.8, "why")).sound
    assert found("edge", (0.8, "why"), (0.9, "why")).complaints == [
        "edge/an_answer keeps 0.80 at 1 of 2 seeds (5), 0.90 at 1 of 2 seeds (6)"
    ]
    assert found("edge", (1.0, ""), (1.0, "")).sound  # its cases may belong to a later unit, and cost nothing yet
    assert not found("edge", (0.8, "why"), (1.0, "")).sound


def test_the_sum_over_exercises():
    whole = combine([found("right", (1.0, "")), found("wrong", (1.0, ""))])
    assert (whole.right, whole.wrong, whole.unstable, whole.seeds) == (1, 1, 1, 1)
    assert whole.complaints == ["wrong/an_answer passes at 1 of 1 seeds (5)"]


def halves(draw):
    yield Case("half", (draw.normal(3),))


def zeros(draw):
    yield Case("half", (torch.zeros(2),))


def outcome_of(half, kind: str):
    reference = LocalSubject({"half": lambda x: x / 2})
    checks = [values(halves), edges(zeros, "zeros")]
    asked = []

    def subject_half(x):
        asked.append(x)
        return half(x)

    return outcome(kind, list(questions(checks, reference, 0)), LocalSubject({"half": subject_half})), len(asked)


def test_an_answer_with_wrong_values_keeps_nothing_and_is_asked_no_further():
    (share, why), calls = outcome_of(lambda x: x, "wrong")
    assert (share, calls) == (0.0, 1) and why.startswith("right values: ")
    assert outcome_of(lambda x: x, "edge")[1] > 1


def test_an_answer_that_is_wrong_at_edges_keeps_the_rest():
    (share, why), _ = outcome_of(lambda x: x / 2 if x.any() else x + 1, "edge")
    assert share == pytest.approx(0.75) and why.startswith("zeros: ")


def test_no_check_is_put_after_what_is_enough():
    question_sets = ask_reference(MASKS, 0)
    wrong = LocalSubject({"causal_mask": lambda *_, **__: 0})

    def failed(finding: Finding) -> bool:
        return bool(finding.failed)

    assert len(collect_answers(question_sets, wrong, failed)) < len(collect_answers(question_sets, wrong))
    assert share_kept(collect_answers(question_sets, wrong)) == 0.0


def test_the_command_measures_once_and_keeps_what_it_found(tmp_path, capsys):
    arguments = ["corpus", MASKS.id, "--seeds", "1", "--results", str(tmp_path / "seeds.jsonl")]
    for _ in range(2):
        with pytest.raises(SystemExit) as stopped:
            cli.main(arguments)
        assert stopped.value.code == 0
    first, second = capsys.readouterr().out.split("all exercises")[0:2]
    assert first.strip() and first.splitlines()[0] in second
    assert len((tmp_path / "seeds.jsonl").read_text().splitlines()) == 1


def test_points_alone_are_measured_with_seeds(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["corpus", MASKS.id, "--seeds", "2", "--report"])
    assert stopped.value.code == 2
    assert "leave out --report and --mutants" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-2", "many"])
def test_what_is_no_number_of_seeds_is_called_so(capsys, number):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["corpus", MASKS.id, f"--seeds={number}"])
    assert stopped.value.code == 2
    assert f"{number!r} is not a number of seeds" in capsys.readouterr().err
