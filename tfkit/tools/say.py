"""How the commands speak: tables as wide as the terminal, and refusals in a line."""

from __future__ import annotations

import typer
from rich.console import Console


def console() -> Console:
    """On a terminal as wide as it is; into a file or a pipe, no line is broken."""
    found = Console()
    return found if found.is_terminal else Console(width=200)


def refuse(command: str, error: Exception) -> typer.Exit:
    """Says on stderr, in a line, why a command cannot be done. -> what to raise: exit status 2"""
    said = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    typer.echo(f"tfkit {command}: {said}", err=True)
    return typer.Exit(2)
