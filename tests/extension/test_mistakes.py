"""A student's first mistake of a day, which the end of a unit shows in a real model."""

import json
from datetime import date

import pytest

from tfkit_lab import mistakes

VERDICT = {"exercise": "masks.causal", "status": "failed", "misconception": "looks_into_the_future"}
MONDAY, TUESDAY = date(2026, 11, 23), date(2026, 11, 24)


def cells(code, exercise="masks.causal"):
    """The cells of a check, as the browser sends them: an answer, and a check cell below it."""
    mark = {"role": "exercise", "exercise": exercise}
    check = {"metadata": {"tfkit": {**mark, "role": "check"}}, "source": "check('masks.causal')"}
    return [{"metadata": {}, "source": "import torch"}, {"metadata": {"tfkit": mark}, "source": code}, check]


def code_of(root):
    found = mistakes.find(root, "masks.causal")
    return found and found.code


def test_the_first_one_of_each_day_is_kept(tmp_path):
    mistakes.keep(tmp_path, VERDICT, cells("first"), MONDAY)
    mistakes.keep(tmp_path, VERDICT, cells("second"), MONDAY)
    assert mistakes.find(tmp_path, "masks.causal") == mistakes.Mistake("masks.causal", "looks_into_the_future", "first")
    mistakes.keep(tmp_path, VERDICT, cells("the next day"), TUESDAY)
    assert code_of(tmp_path) == "the next day"
    assert mistakes.find(tmp_path, "masks.padding") is None
    assert (tmp_path / mistakes.MISTAKES).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("change", "sent"),
    [
        ({"status": "passed", "misconception": None}, cells("right")),
        ({"misconception": None}, cells("wrong in an unknown way")),
        ({}, cells("another", "masks.padding")),
        ({}, cells("x" * (mistakes.MAX_CODE + 1))),
    ],
)
def test_nothing_else_is_kept(tmp_path, change, sent):
    mistakes.keep(tmp_path, VERDICT | change, sent, MONDAY)
    assert not (tmp_path / ".tfkit").exists()


def test_a_damaged_file_has_none_and_is_replaced(tmp_path):
    mistakes.keep(tmp_path, VERDICT, cells("first"), MONDAY)
    for text in ("{", "[]", json.dumps({"masks.causal": {"code": 3}}), json.dumps({"masks.causal": "x"})):
        (tmp_path / mistakes.MISTAKES).write_text(text)
        assert code_of(tmp_path) is None
    mistakes.keep(tmp_path, VERDICT, cells("after that"), MONDAY)
    assert code_of(tmp_path) == "after that"
