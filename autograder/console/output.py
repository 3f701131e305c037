"""The console of commands that print with rich."""

from __future__ import annotations

import os
import sys

from rich.console import Console

WIDE = 20_000  # columns where no terminal shows the output; rich itself would wrap and cut lines at 80 there


def make_console(log: bool = False) -> Console:
    """A console for standard output.

    In a file or a pipe each line stays whole, so that it can be searched, and there are neither colours nor progress
    bars, even where FORCE_COLOR is set, as in a notebook's subprocess. COLUMNS still sets the width, as rich has it.
    log: in a terminal too.
    """
    terminal = not log and sys.stdout.isatty()
    width = None if terminal or "COLUMNS" in os.environ else WIDE
    return Console(highlight=False, force_terminal=terminal, width=width)
