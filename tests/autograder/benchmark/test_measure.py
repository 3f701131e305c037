"""Rates and the table, from results that are written down; samples; what a machine's fault counts for."""

import pytest

from autograder.benchmark.grader import Judgement
from autograder.benchmark.measure import (
    Rate,
    Result,
    as_lines,
    blind_table,
    false_alarm_rate,
    from_lines,
    judge_all,
    kill_rate,
    naming_rate,
    sample,
    table,
)
from autograder.exercises import registry
from autograder.sandbox import SandboxError


def result(grader: str, kind: str, name: str, accepted: bool, **more) -> Result:
    return Result(grader, f"masks.causal/{kind}/{name}", "masks.causal", kind, name, accepted, **more)


RESULTS = [
    result("tfkit", "right", "a", True, values=False),
    result("tfkit", "wrong", "x", False, misconception="x", values=True),
    result("tfkit", "wrong", "y", False, misconception="z", values=False),
    result("tfkit", "rewritten", "x", False, misconception="x", values=True),
    result("plain", "right", "a", False),
    result("plain", "wrong", "x", False),
    result("plain", "wrong", "y", True),
    result("plain", "rewritten", "x", True),
    result("plain", "wrong", "w", False, failed="no box"),
]


def test_rates():
    plain, engine = ([one for one in RESULTS if one.grader == name] for name in ("plain", "tfkit"))
    assert kill_rate(plain, "wrong") == Rate(1, 2) and kill_rate(plain, "rewritten") == Rate(0, 1)
    assert false_alarm_rate(plain) == Rate(1, 1) and false_alarm_rate(engine) == Rate(0, 1)
    assert naming_rate(engine, "wrong") == Rate(1, 2) and str(Rate(1, 2)) == "1/2 (50 %)" and str(Rate(0, 0)) == "none"


def test_the_table_has_each_grader_and_the_engine_on_the_same_exercises():
    lines = table(RESULTS, {"tfkit": "tfkit's checks", "plain": "plain asserts"}).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| tfkit's checks", "| plain asserts", "| – tfkit on these"]
    plain = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert plain == ["plain asserts", "1", "1/2 (50 %)", "1/1 (100 %)", "0/1 (0 %)", "1/1 (100 %)", "–", "–"]


def test_the_table_of_answers_by_other_hands_leaves_the_collected_ones_out():
    blind = [
        result("tfkit", "blind right", "a", True),
        result("tfkit", "blind wrong", "x", False),
        result("plain", "blind right", "a", True),
        result("plain", "blind wrong", "x", True),
    ]
    lines = blind_table(RESULTS + blind, {"tfkit": "tfkit's checks", "plain": "plain asserts"}).splitlines()
    assert lines[2:] == [
        "| tfkit's checks | 1 | 1/1 (100 %) | 0/1 (0 %) |",
        "| plain asserts | 1 | 0/1 (0 %) | 0/1 (0 %) |",
        "| – tfkit on these | 1 | 1/1 (100 %) | 0/1 (0 %) |",
    ]


def test_a_larger_sample_holds_a_smaller_one_and_edges_are_not_asked():
    rows = [
        {"exercise": "e", "kind": kind, "id": f"{kind}/{n}"} for kind in ("right", "wrong", "edge") for n in range(9)
    ]
    small, large = (sample(rows, most, 1) for most in (2, 5))
    assert len(small) == 4 and len(large) == 10 and all(row in large for row in small)
    assert len(sample(rows, None, 1)) == 18 and sample(rows, 2, 2) != small


def test_results_survive_a_file():
    assert from_lines(as_lines(RESULTS)) == RESULTS
    with pytest.raises(ValueError, match="not a results file of the benchmark"):
        from_lines('{"grader": "x"}\n')


class Fails:
    """A grader whose box cannot be had for wrong answers."""

    title = follows = "for this test"

    def covers(self, exercise):
        return exercise.id == "masks.causal"

    def judge(self, exercise, source, backend):
        if source == "wrong":
            raise SandboxError("no box")
        return Judgement(True)


def test_a_machines_fault_counts_neither_for_nor_against():
    exercise = registry.find("masks.causal").id
    rows = [{"id": kind, "exercise": exercise, "kind": kind, "name": "n", "code": kind} for kind in ("right", "wrong")]
    rows += [{"id": "other", "exercise": "masks.padding", "kind": "right", "name": "n", "code": "right"}]
    results = list(judge_all({"fails": Fails()}, rows, None))
    assert [one.failed for one in results] == ["", "no box"]
    assert kill_rate(results, "wrong") == Rate(0, 0)
