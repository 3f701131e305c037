"""What every command line of the project is made of: argparse, with a description, exit status, examples for `--help`.

Every package can import it from here, as this one imports none of them.
"""

from __future__ import annotations

import argparse
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

INDENT = "  "
REFUSED = "the request cannot be carried out; the reason is on standard error"
DONE = {0: "done", 2: REFUSED}  # the exit status of a command that can only succeed or be refused


class ParagraphFormatter(argparse.HelpFormatter):
    """Wraps paragraphs to the terminal's width, and keeps indented lines, such as examples, as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks = textwrap.dedent(text).strip("\n").split("\n\n")
        return "\n\n".join(self._fill_block(block, width, indent) for block in blocks)

    @staticmethod
    def _fill_block(block: str, width: int, indent: str) -> str:
        if any(line.startswith(INDENT) for line in block.splitlines()):
            return textwrap.indent(block, indent)
        return textwrap.fill(
            " ".join(block.split()), width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )


@dataclass(frozen=True, kw_only=True)
class CommandHelp:
    """summary: for the list of commands; description: full sentences; exits: the meaning of each exit status."""

    summary: str
    description: str
    exits: Mapping[int, str] = field(default_factory=dict)
    examples: Sequence[str] = ()


def epilog(exits: Mapping[int, str], examples: Sequence[str]) -> str:
    """The text below the options: a line for each exit status, and one for each example."""
    blocks = []
    if exits:
        blocks.append("exit status:\n" + "\n".join(_exit_line(code, meaning) for code, meaning in exits.items()))
    if examples:
        title = "example:" if len(examples) == 1 else "examples:"
        blocks.append(title + "\n" + "\n".join(f"{INDENT}$ {line}" for line in examples))
    return "\n\n".join(blocks)


def _exit_line(code: int, meaning: str) -> str:
    return textwrap.fill(f"{code:<3} {meaning}", 76, initial_indent=INDENT, subsequent_indent=INDENT + 4 * " ")


def add_command(commands: Any, name: str, text: CommandHelp) -> argparse.ArgumentParser:
    """Add a subcommand with its help text to `commands`, which `add_subparsers` returned."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text.summary,
        description=text.description,
        epilog=epilog(text.exits, text.examples),
        formatter_class=ParagraphFormatter,
    )
    return parser


def make_parser(
    module: str, description: str, exits: Mapping[int, str] | None = None, examples: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """The parser of a module that is run with `python -m`."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        epilog=epilog(exits or {}, examples),
        formatter_class=ParagraphFormatter,
    )


def number(kind: type[int] | type[float], least: float, below: float = math.inf) -> Callable[[str], float]:
    """The type of an argument that is a number of at least `least` and less than `below`."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not least <= value < below:
            raise argparse.ArgumentTypeError(
                f"{text}: must be at least {least}{'' if below == math.inf else f' and less than {below}'}"
            )
        return value

    return read
