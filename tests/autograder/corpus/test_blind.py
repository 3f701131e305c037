"""Answers by other hands: graded as in the lesson, counted apart, and not graded twice."""

import json

import pytest

from autograder import cli
from autograder.console.base import BadInput
from autograder.corpus import blind

RIGHT = """# by comparing
def causal_mask(length):
    place = torch.arange(length)
    return place <= place[:, None]
"""
WRONG = """# without its own position
def causal_mask(length):
    return torch.ones(length, length).bool().tril(-1)
"""


def command(*arguments):
    """Runs `autograder corpus --blind`, and returns its exit code."""
    with pytest.raises(SystemExit) as stopped:
        cli.main(["corpus", "--blind", *map(str, arguments)])
    return stopped.value.code


@pytest.fixture
def folder(tmp_path):
    """One right and one wrong answer, which use the lesson's imports."""
    place = tmp_path / "answers" / "masks.causal"
    for kind, text in (("right", RIGHT), ("wrong", WRONG)):
        (place / kind).mkdir(parents=True)
        (place / kind / "one.py").write_text(text)
    (place / "setup.py").write_text("import torch\n")
    return place.parent


def test_answers_are_counted_by_what_their_authors_meant(folder, tmp_path, capsys):
    results = tmp_path / "rows.jsonl"
    assert command(folder, "--results", results) == 0
    printed = capsys.readouterr().out
    assert "right passed 1/1, wrong caught 1/1, named 1/1" in printed
    assert "masks.causal/wrong/one  0.7 of 1  (own_position_hidden): " in printed
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [(row["answer"], row["label"], row["right"], row["status"]) for row in rows] == [
        ("masks.causal/right/one", "by comparing", True, "passed"),
        ("masks.causal/wrong/one", "without its own position", False, "failed"),
    ]


def test_only_what_has_changed_is_graded_again(folder, tmp_path, monkeypatch):
    results, graded, grade = tmp_path / "rows.jsonl", [], blind.grade
    monkeypatch.setattr(blind, "grade", lambda answer, backend: graded.append(answer.key) or grade(answer, backend))
    for _ in range(2):
        assert command(folder, "--results", results) == 0
    assert graded == ["masks.causal/right/one", "masks.causal/wrong/one"]
    (folder / "masks.causal" / "right" / "one.py").write_text(WRONG)  # now a wrong one stands among the right ones
    assert command(folder, "--results", results) == 1
    assert graded[2:] == ["masks.causal/right/one"]


def test_an_old_row_is_not_believed_after_the_grader_or_what_precedes_the_answer_changed(folder, tmp_path, monkeypatch):
    results, graded, grade = tmp_path / "rows.jsonl", [], blind.grade
    monkeypatch.setattr(blind, "grade", lambda answer, backend: graded.append(answer.key) or grade(answer, backend))
    assert command(folder, "--results", results) == 0
    (folder / "masks.causal" / "setup.py").write_text("import torch\nfrom math import pi\n")
    assert command(folder, "--results", results) == 0
    assert len(graded) == 4
    monkeypatch.setattr("autograder.corpus.results_file.hash_of_code", lambda *_: "other code")
    assert command(folder, "--results", results) == 0
    assert command(folder, "--results", results) == 0
    assert len(graded) == 6


def test_a_wrong_answer_that_could_not_be_graded_is_misjudged():
    told = {(right, status): blind.is_misjudged({"right": right, "status": status})
            for right in (True, False) for status in ("passed", "failed", "not_graded")}  # fmt: skip
    assert [key for key, misjudged in told.items() if not misjudged] == [(True, "passed"), (False, "failed")]


@pytest.mark.parametrize("option", ["--seeds 2", "--seed 3", "--workers 2", "--report", "--mutants"])
def test_options_that_do_nothing_for_answers_by_other_hands_are_refused(folder, option, capsys):
    assert command(folder, *option.split()) == 2
    assert f"leave out {option.split()[0]}" in capsys.readouterr().err


def test_the_label_is_not_graded_and_lines_keep_their_numbers(folder):
    (answer,) = (one for one in blind.find(folder) if not one.right)
    assert answer.without_label() == "\n" + WRONG.partition("\n")[2]


def test_a_folder_without_answers_is_refused(tmp_path):
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(BadInput, match=str(folder)):
            blind.find(folder)
