"""Asks an `autograder` command for a JSON object, in a process of its own: a notebook's kernel then loads nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

BROWSER = "emscripten"  # Python in a browser tab
SECONDS = 300.0  # for an answer; the grader has limits of its own


def ask(arguments: Sequence[str], failed: type[Exception]) -> dict[str, Any]:
    """The last object that `autograder` prints with these arguments. Raises `failed` with the reason without one."""
    if sys.platform == BROWSER:
        raise failed("it runs in a process of its own, which Python in a browser tab cannot start")
    command = [sys.executable, "-m", "autograder", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise failed(f"no answer after {SECONDS:g} s: it was stopped") from None
    if (answer := last_object(done.stdout)) is not None:
        return answer
    lines = done.stderr.strip().splitlines()
    raise failed(lines[-1].removeprefix("autograder: ") if lines else f"it ended with status {done.returncode}")


def last_object(output: str, fits: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any] | None:
    """The last JSON object in a line of its own that fits; None without one. Libraries print warnings around it."""
    for line in reversed(output.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and fits(found):
            return found
    return None
