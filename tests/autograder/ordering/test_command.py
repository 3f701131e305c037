"""`autograder order`: prints, judges, proves."""

import json

import pytest

from autograder import cli
from autograder.exercises import registry
from autograder.ordering.make import make
from autograder.ordering.prove import write_order

ID = "masks.decoder"


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main(["order", *words])
    return int(end.value.code or 0)


def test_lines_are_printed_with_numbers_and_without_names_of_mistakes(capsys):
    assert run(ID, "--student", "ada") == 0
    shown = capsys.readouterr().out
    puzzle = make(registry.find(ID), "ada")
    assert all(f"{n:3}  {line.text}" in shown for n, line in enumerate(puzzle.lines, 1))
    assert '--answer "3 1 2:1"' in shown and not any(line.mistake and line.mistake in shown for line in puzzle.lines)
    assert run(ID, "--student", "ada", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lines"] == [line.text for line in puzzle.lines]
    assert not {"right", "mistake", "place"} & found.keys()


def test_the_exit_status_is_that_of_a_check(capsys):
    puzzle = make(registry.find(ID), "ada")
    assert run(ID, "--student", "ada", f"--answer={write_order(puzzle.right)}") == 0
    assert "✓ masks.decoder" in capsys.readouterr().out
    assert run(ID, "--student", "ada", f"--answer={write_order(puzzle.right[::-1])}", "--json") == 1
    assert json.loads(capsys.readouterr().out)["status"] == "failed"


def test_prove_says_what_was_run(capsys):
    assert run("prove", ID, "--orders", "1") == 0
    out = capsys.readouterr().out
    assert (
        "equivalent orders: 1" in out
        and "8 shuffles were answered by a right order: 0 of all these were misjudged" in out
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("rnn.cell",), "its answer has only 1 line"),
        ((ID, "--answer", "x"), "'x' is no line"),
        (("masks.decoderr",), "no exercise is called 'masks.decoderr'"),
        ((ID, "masks.softmax"), "one exercise at a time"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_in_a_line(words, why, capsys):
    assert run(*words) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1
