"""What every command line is made of: helps that wrap and keep their examples, and numbers with bounds."""

from __future__ import annotations

import argparse

import pytest

from tfkit_course.command_line import CommandHelp, add_command, make_parser, number


def test_examples_keep_their_lines_and_paragraphs_are_wrapped() -> None:
    parser = make_parser("a.module", "One. " * 40, {0: "done", 130: "stopped"}, ("run --a  b",))
    shown = parser.format_help()
    assert "exit status:\n  0   done\n  130 stopped\n\nexample:\n  $ run --a  b\n" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_subcommand_shows_its_summary_and_its_description() -> None:
    parser = argparse.ArgumentParser("x")
    commands = parser.add_subparsers()
    child = add_command(commands, "go", CommandHelp(summary="walk away", description="Walk away slowly."))
    assert "walk away" in parser.format_help() and "Walk away slowly." in child.format_help()


@pytest.mark.parametrize(
    ("kind", "bounds", "text", "message"),
    [
        (int, (1,), "0", "0: must be at least 1"),
        (int, (1,), "1.5", "'1.5' is not a number"),
        (float, (0.0, 1.0), "1", "1: must be at least 0.0 and less than 1.0"),
        (float, (0.0,), "nan", "nan: must be at least 0.0"),
    ],
)
def test_a_number_outside_of_its_bounds_is_refused(kind, bounds, text, message):
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{message}$"):
        number(kind, *bounds)(text)


def test_a_number_within_its_bounds_is_read():
    assert number(int, 1)("12") == 12 and number(float, 0.0, 1.0)("0.5") == 0.5
