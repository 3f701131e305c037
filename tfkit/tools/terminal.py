"""Output of the commands: tables as wide as the terminal, and errors in one line."""

from __future__ import annotations

import typer
from rich.console import Console


def make_console() -> Console:
    """As wide as the terminal; in a file or a pipe, no line is broken."""
    found = Console()
    return found if found.is_terminal else Console(width=200)


def exit_with_error(command: str, error: Exception, program: str = "tfkit") -> typer.Exit:
    """Prints on stderr, in one line, why a command failed -> the exception to raise, with exit status 2"""
    message = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    typer.echo(f"{program} {command}: {message}", err=True)
    return typer.Exit(2)
