"""The verdict's JSON object, as DESIGN's contract and other people's tools know it."""

from __future__ import annotations

import json

import pytest

from autograder.api import Verdict, misconceptions_of, with_hints


def test_all_mistakes_are_a_list_and_the_first_is_the_main_one():
    verdict = Verdict(
        exercise="a.b", status="failed", score=0, max_score=1, misconception="x", misconceptions=("x", "y")
    )
    found = json.loads(json.dumps(verdict.as_json()))
    assert (found["misconception"], found["misconceptions"]) == ("x", ["x", "y"])
    none = json.loads(json.dumps(Verdict(exercise="a.b", status="passed", score=1, max_score=1).as_json()))
    assert (none["misconception"], none["misconceptions"]) == (None, [])
    assert with_hints(found, 0)["misconceptions"] == [] and with_hints(found, 1)["misconceptions"] == ["x", "y"]


@pytest.mark.parametrize(
    ("verdict", "names"),
    [
        ({"misconception": "x", "misconceptions": ["x", "y"]}, ["x", "y"]),
        ({"misconception": "x + y"}, ["x", "y"]),  # of an earlier version
        ({"misconception": "x", "misconceptions": []}, ["x"]),
        ({"misconception": None, "misconceptions": None}, []),
        ({"misconception": None, "misconceptions": [1, "y"]}, ["y"]),
        ({}, []),
    ],
)
def test_the_names_in_a_verdict_old_or_new(verdict, names):
    assert misconceptions_of(verdict) == names
