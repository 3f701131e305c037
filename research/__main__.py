"""`python -m research`: claims of the papers, tried at small scale."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from research import terminal
from research.runs import KEPT
from tfkit.tools.terminal import exit_status, make_console
from tfkit_course.command_line import REFUSED, make_parser, number


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command; exits with the status that its help describes."""
    options = _parser().parse_args(argv)
    sys.exit(exit_status(lambda: _reproduce(options), "python -m research"))


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(
        "research",
        """
        Test claims of papers at small scale, and report which hold. Ctrl-C keeps the finished runs.

        The page contains every claim that was run, and is written from the stored runs.
        """,
        exits={0: "done", 2: REFUSED, 130: "stopped by Ctrl-C; the same command continues from there"},
        examples=("python -m research --list", "python -m research recurrence_time --write docs"),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of claims, as shown by --list")
    parser.add_argument(
        "--all", action="store_true", dest="every", help="run all claims, and write docs/reproductions.md"
    )
    parser.add_argument("--list", action="store_true", help="list the claims instead of running them")
    parser.add_argument(
        "--full", action="store_true", help="use larger models and longer training, for a larger machine"
    )
    parser.add_argument(
        "--seeds",
        type=number(int, 1),
        default=3,
        metavar="N",
        help="number of runs of each claim (default: %(default)s)",
    )
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="write reproductions.md and its figures into this folder"
    )
    parser.add_argument(
        "--kept",
        type=Path,
        default=KEPT,
        metavar="FOLDER",
        help="folder in which runs are stored; stored runs are not repeated (default: %(default)s)",
    )
    return parser


def _reproduce(options: argparse.Namespace) -> int:
    """Lists the claims, or runs those that are named -> the exit status."""
    if options.list or not (options.names or options.every or options.write):
        terminal.show_claims(make_console())
        return 0
    write = Path("docs") if options.every and options.write is None else options.write
    scale = "full" if options.full else "small"
    try:
        terminal.reproduce(make_console(), options.names, options.every, scale, options.seeds, options.kept, write)
    except KeyboardInterrupt:
        print("\nstopped: finished runs are stored, and the same command continues from there", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    main()
