"""Twenty good and twenty bad tests, as students write them: each good one earns more than every bad one."""

import tomllib
from pathlib import Path

import pytest

from autograder.hunts import make
from autograder.hunts.judge import CATCHES_OF, part_of_test
from autograder.hunts.own_test import judge_test, read_test
from autograder.sandbox import choose

WRITTEN = tomllib.loads((Path(__file__).parent / "student_tests.toml").read_text(encoding="utf-8"))["test"]


def test_there_are_as_many_good_ones_as_bad_ones():
    kinds = [one["kind"] for one in WRITTEN]
    assert kinds.count("good") == kinds.count("bad") == 20


@pytest.mark.sampled(10)
@pytest.mark.parametrize("written", WRITTEN, ids=[f"{one['kind']}-{number}" for number, one in enumerate(WRITTEN)])
def test_a_good_test_earns_more_than_any_bad_one(written):
    hunt = make.find(written["hunt"])
    part = part_of_test(judge_test(hunt, read_test(hunt.exercise, written["source"]), choose()))
    if written["kind"] == "good":
        assert part.status == "passed" and part.points >= CATCHES_OF
    else:
        assert part.status == "failed" and part.points < CATCHES_OF / 2
