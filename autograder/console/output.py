"""The console of commands that print with rich."""

from __future__ import annotations

import json as json_module
import os
import sys
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from autograder.feedback.text import plain

WIDE = 20_000  # columns where no terminal shows the output; rich itself would wrap and cut lines at 80 there


class JsonConsole(Console):
    """Prints each line as a JSON object with time (UTC), level (info, or warning for what others print in yellow) and
    message."""

    def print(self, *objects: Any, style: Any = None, **how: Any) -> None:
        """Print what the parent class would, as objects."""
        with self.capture() as captured:
            super().print(*objects, **how)
        for line in filter(str.strip, captured.get().splitlines()):
            level = "warning" if style == "yellow" or line.startswith("!") else "info"
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            entry = {"time": now, "level": level, "message": plain(line.strip())}
            self.file.write(json_module.dumps(entry, ensure_ascii=False) + "\n")
        self.file.flush()


def make_console(log: bool = False, json: bool = False) -> Console:
    """A console for standard output.

    In a file or a pipe each line stays whole, so that it can be searched, and there are neither colours nor progress
    bars, even where FORCE_COLOR is set, as in a notebook's subprocess. COLUMNS still sets the width, as rich has it.
    log: in a terminal too. json: each line is a JSON object, for programs that collect logs.
    """
    terminal = not log and sys.stdout.isatty()
    width = None if terminal or "COLUMNS" in os.environ else WIDE
    if json:
        return JsonConsole(highlight=False, force_terminal=False, width=WIDE)
    return Console(highlight=False, force_terminal=terminal, width=width)
