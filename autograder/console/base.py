"""What all commands share: how one that cannot be carried out ends."""

from __future__ import annotations

import sys
from collections.abc import Callable

from autograder.console import error_messages
from autograder.feedback.text import plain


class BadInput(Exception):
    """The request cannot be carried out; the message says what was wrong, where, and what to do."""


def exit_status(run: Callable[[], int], where: str, *refusals: type[Exception]) -> int:
    """The exit status of a command; 2, with one line on standard error, for what its user can mend.

    where: what an error of the machine is about if it names no file; refusals: raised with a line for the user, like
    BadInput. Raises whatever else `run` raises.
    """
    expected: tuple[type[Exception], ...] = (BadInput, *refusals)
    try:
        return run()
    except expected as error:
        message: str | None = str(error)
    except BrokenPipeError:  # `autograder list | head`
        return 0
    except Exception as error:
        message = error_messages.explain(error, where)
        if message is None:
            raise
    print(plain(f"autograder: {message}"), file=sys.stderr)
    return 2
