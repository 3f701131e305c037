"""Two edits of one program are made together by their trees; what both change, each in its own way, is refused."""

from __future__ import annotations

import ast

import pytest

from autograder.exercises.merge import merge_sources

BASE = '''
"""A loss."""
def loss(x, y):
    scores = x @ y.T / x.size(-1) ** 0.5
    return scores.log_softmax(-1).mean()
'''


def merged(*edits: tuple[str, str]) -> str | None:
    one, other = (BASE.replace(*edit) for edit in edits)
    return merge_sources(BASE, one, other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (("softmax(-1)", "softmax(0)"), ("mean", "sum"), "scores.log_softmax(0).sum()"),
        (("return scores", "return -scores"), ("mean", "sum"), "-scores.log_softmax(-1).sum()"),
        ((".log_softmax(-1)", ".exp().log_softmax(-1)"), ("softmax(-1)", "softmax(0)"), ".exp().log_softmax(0)"),
        (("    return", "    scores = scores + 1\n    return"), ("** 0.5", ""), "scores + 1"),
    ],
    ids=["arguments", "around", "inside", "lines"],
)  # fmt: skip
def test_both_edits_are_made(one, other, expected):
    text = merged(one, other)
    assert text is not None and expected in text
    assert text == merged(other, one), "the order does not matter"


def test_a_line_that_is_inserted_keeps_what_the_other_edit_changes():
    text = merged(("    return", "    scores = scores + 1\n    return"), ("** 0.5", "** 2"))
    wanted = BASE.replace("    return", "    scores = scores + 1\n    return").replace("** 0.5", "** 2")
    assert text is not None and ast.dump(ast.parse(text)) == ast.dump(ast.parse(wanted.replace('"""A loss."""\n', "")))


@pytest.mark.parametrize("other", [("mean", "amax"), ("return scores.log_softmax(-1).mean()", "return x")])
def test_what_both_edits_change_is_refused(other):
    assert merged(("mean", "sum"), other) is None
