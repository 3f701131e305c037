"""What is handed in for a hunt earns points in three parts."""

import pytest

from autograder.grade.run import grade_source
from autograder.hunts import judge, make
from autograder.hunts.judge import HuntSubmission, judge_lines, judge_repair, part_of_test
from autograder.hunts.own_test import TestReport as Report  # pytest would collect it by its name
from autograder.sandbox import choose

HUNT = make.find("masks.causal/sees_one_ahead")
TEST = "def test_it(answer):\n    assert torch.equal(answer(4), torch.ones(4, 4).tril().bool())\n"


@pytest.fixture(scope="module")
def backend():
    return choose()


def test_lines_test_and_repair_together_pass(backend):
    verdict = judge.judge(HUNT, HuntSubmission((5,), TEST, HUNT.repair), backend)
    assert verdict.status == "passed" and 3.5 < verdict.score <= verdict.max_score == 4.0
    assert [part.status for part in verdict.parts] == ["passed"] * 3
    assert "Lines that you changed: 1; in the smallest repair that is known: 1." in verdict.parts[2].sentences


def test_a_right_repair_alone_does_not_pass(backend):
    verdict = judge.judge(HUNT, HuntSubmission(repair=HUNT.repair), backend)
    assert verdict.status == "failed" and verdict.score == judge.REPAIR_OF
    assert [part.status for part in verdict.parts] == ["not_run", "not_run", "passed"]


@pytest.mark.parametrize(
    ("lines", "points"), [((5,), 1.0), ((4, 5), 0.5), ((4,), 0.0), ((), 0.0), ((1, 2, 3, 4, 5), 0.2), ((5, 99), 0.5)]
)
def test_points_for_lines_are_shares_of_faults_and_of_lines(lines, points):
    assert judge_lines(HUNT, lines).points == pytest.approx(points)


def test_each_of_several_faults_has_to_be_suspected():
    hunt = make.find("attention.scaled_dot_product/always_causal+exponential_overflows")
    (first,), (second, *_) = hunt.fault_lines
    assert judge_lines(hunt, (first,)).points == pytest.approx(0.5)
    assert judge_lines(hunt, (first, second)).points == pytest.approx(1.0)


def report(accepted=4, catches=True, killed=5, others=10):
    return Report(4, accepted, catches, "AssertionError" if catches else "", others, killed, ())


def test_tests_are_ranked():
    order = [report(accepted=3, killed=0, others=0), report(catches=False, killed=0), report(catches=False),
             report(killed=0), report(), report(killed=10)]  # fmt: skip
    points = [part_of_test(one).points for one in order]
    assert points == sorted(points) == [0.0, 0.0, 0.25, 1.0, 1.25, 1.5]
    assert [part_of_test(one).status for one in order] == ["failed"] * 3 + ["passed"] * 3


def test_a_false_alarm_is_explained():
    words = part_of_test(report(accepted=3, others=0)).sentences
    assert any("It fails on 1 of 4 right answers" in line for line in words)


def test_code_that_is_not_repaired_earns_nothing(backend):
    rewritten = HUNT.code.replace("tril(diagonal=1)", "tril(1)")  # changed, and behaves as before
    for source in (HUNT.code, HUNT.code + "\n\n", rewritten):
        part = judge_repair(HUNT, source, backend)
        assert part.points == 0 and part.sentences == (judge.STILL,)


def test_another_mistake_in_place_of_the_first_is_no_step_forward(backend):
    part = judge_repair(HUNT, HUNT.code.replace("diagonal=1", "diagonal=-1"), backend)
    assert part.points == 0 and judge.NO_NEARER in part.sentences


def test_points_that_the_faulty_code_has_already_are_not_paid_for_a_repair(backend):
    hunt = make.find("masks.softmax/exponential_overflows")  # fails one small check, so that no distance is measured
    part = judge_repair(hunt, hunt.code.replace("torch.exp(scores)", "torch.exp(scores.clamp(max=60))"), backend)
    assert part.points == 0 and judge.NO_NEARER in part.sentences


def test_half_a_repair_earns_its_share_of_the_way_to_all_points(backend):
    hunt = make.find("attention.scaled_dot_product/always_causal+exponential_overflows")
    half = hunt.without(hunt.faults[0])
    part = judge_repair(hunt, half, backend)
    before, after = (
        grade_source(hunt.exercise, code, backend=backend, device="cpu", seed=0) for code in (hunt.code, half)
    )
    share = (after.score - before.score) / (before.max_score - before.score)
    assert part.status == "failed" and 0 < share < 1 and part.points == pytest.approx(judge.REPAIR_OF * share)


def test_a_repair_that_does_not_parse_is_told(backend):
    part = judge_repair(HUNT, "def causal_mask(:", backend)
    assert part.points == 0 and "syntax error" in part.sentences[0]


def test_a_bad_test_costs_its_own_part_alone(backend):
    verdict = judge.judge(HUNT, HuntSubmission((5,), "x = 1", HUNT.repair), backend)
    assert verdict.score == judge.LINES_OF + judge.REPAIR_OF
    assert verdict.parts[1].sentences[0].startswith("There is no function whose name begins with test")


def test_nothing_in_a_verdict_names_the_fault(backend):
    verdict = judge.judge(HUNT, HuntSubmission((1,), "def test_it(answer): pass", HUNT.code), backend)
    assert "sees_one_ahead" not in str(verdict.as_json())
