"""`python -m research`: claims of the papers, tried at small scale."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from research import terminal
from research.runs import KEPT
from tfkit.tools.terminal import exit_with_error, make_console


def main(
    names: Annotated[list[str] | None, typer.Argument(help="names of claims, as shown by --list")] = None,
    every: Annotated[bool, typer.Option("--all", help="run all claims, and write docs/reproductions.md")] = False,
    listed: Annotated[bool, typer.Option("--list", help="list the claims instead of running them")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="use larger models and longer training, for a larger machine")
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="number of runs of each claim")] = 3,
    write: Annotated[Path | None, typer.Option(help="write reproductions.md and its figures into this folder")] = None,
    kept: Annotated[Path, typer.Option(help="folder in which runs are stored; stored runs are not repeated")] = KEPT,
) -> None:
    """Test claims of papers at small scale, and report which hold. Ctrl-C keeps the finished runs.

    The page contains every claim that was run, and is written from the stored runs.
    """
    try:
        if listed or not (names or every or write):
            terminal.show_claims(make_console())
        else:
            write = Path("docs") if every and write is None else write
            terminal.reproduce(make_console(), names or [], every, "full" if full else "small", seeds, kept, write)
    except (LookupError, ValueError, ModuleNotFoundError) as error:
        raise exit_with_error("research", error, program="python -m") from None
    except KeyboardInterrupt:
        typer.echo("\nstopped: finished runs are stored, and the same command continues from there", err=True)
        raise typer.Exit(130) from None


app = typer.Typer(add_completion=False)
app.command()(main)

if __name__ == "__main__":
    app(prog_name="python -m research")
