"""Output of the commands: tables as wide as the terminal, and errors in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from rich.console import Console


def make_console() -> Console:
    """As wide as the terminal; in a file or a pipe, no line is broken."""
    found = Console()
    return found if found.is_terminal else Console(width=200)


def exit_status(run: Callable[[], int | None], command: str) -> int:
    """What a command returns, or 0 for nothing; 2, with one line on standard error, for what its user can mend."""
    try:
        return run() or 0
    except BrokenPipeError:  # `tfkit list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python's last flush would raise it again
        return 1
    except KeyboardInterrupt:
        return 130
    except (OSError, LookupError, ModuleNotFoundError, TypeError, ValueError) as error:
        message = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
        print(f"{command}: {message}", file=sys.stderr)
        return 2
