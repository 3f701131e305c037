"""The `autograder` command. Each subcommand imports what it needs, so that `list` is instant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from autograder import registry


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command; exits 0 (all passed), 1 (not all) or 2 (could not be graded, or a request that makes no sense)."""
    arguments = _parser().parse_args(argv)
    try:
        code = arguments.run(arguments)
    except registry.UnknownExercise as error:
        print(f"autograder: {error}", file=sys.stderr)
        code = 2
    except BrokenPipeError:  # `autograder list | head`
        code = 0
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="autograder", description="Grade what students build against the reference.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="exercise ids, a line each")
    listing.set_defaults(run=_list)
    return parser


def _list(arguments: argparse.Namespace) -> int:
    for exercise in registry.exercises():
        print(exercise.id)
    return 0
