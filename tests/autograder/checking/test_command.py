"""What `autograder check` adds to a verdict before it prints it."""

import argparse
import json

import pytest

from autograder.api import Verdict
from autograder.checking import command


@pytest.mark.parametrize(
    ("exercise", "status", "hints", "offered"),
    [
        ("masks.decoder", "failed", 1, True),
        ("masks.decoder", "failed", 0, False),
        ("masks.decoder", "passed", 3, False),
        ("rnn.cell", "failed", 3, False),  # an answer of one line
    ],
)
def test_lines_to_put_in_order_are_offered_where_there_are_some(capsys, exercise, status, hints, offered):
    verdict = Verdict(exercise=exercise, status=status, score=0.0, max_score=1.0)
    command._show(verdict, argparse.Namespace(format="json", hints=hints))
    assert json.loads(capsys.readouterr().out)["ordering"] is offered
