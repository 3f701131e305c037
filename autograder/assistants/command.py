"""`autograder mcp`: serves AI assistants, or shows what they have asked for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from autograder.assistants import log, rules
from autograder.console import help_texts
from autograder.console.base import BadInput, lack


def add_options(command: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    command.add_argument("course", nargs="?", type=Path, metavar="COURSE",
                         help="a course directory or a student's folder of notebooks, for rules and log")  # fmt: skip
    command.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    command.add_argument("--log", action="store_true",
                         help="print the logged requests of assistants instead of serving")  # fmt: skip
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is interrupted. Raises BadInput."""
    try:
        found = rules.read_rules(arguments.course)
        if arguments.log:
            return _show_log(log.read(found.log), found.log)
        try:
            from autograder.assistants.server import make_server
        except ImportError as error:
            raise BadInput(lack("mcp", error, "grading", "mcp")) from error
        with suppress(KeyboardInterrupt):  # the user ends it in the terminal
            make_server(found, arguments.trust).run("stdio")
    except (rules.BadRules, log.LogError) as error:
        raise BadInput(str(error)) from error
    return 0


def _show_log(entries: Sequence[Any], file: Path) -> int:
    from autograder.console.output import make_console

    if not entries:
        raise BadInput(f"nothing is logged in {file}: no assistant has asked anything yet")
    make_console().print(log.table(entries))
    return 0
