"""Individual sizes, seeds and words, drawn from the student's name, so that neighbours can compare different numbers.

    mine = variant("02-masks", letters=[10, 12, 14], seed=range(100))
    mine.letters, mine.seed                              # the same at each run, others for another student

Nothing is stored: whoever knows the name draws the same, and what is right for these numbers is computed.
"""

from __future__ import annotations

import getpass
import hashlib
import os
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any


def student_name() -> str:
    """The student's name: the JupyterHub user, else the account on this machine."""
    return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()


def variant(unit: str, student: str | None = None, **choices: Sequence[Any]) -> SimpleNamespace:
    """One of each of `choices`, as attributes of the same names; for `student`, by default the current user.

    Each draw is independent: a further choice changes none of the others. Raises ValueError for nothing to choose from.
    """
    name = student_name() if student is None else student
    return SimpleNamespace(**{what: _drawn(f"{unit}\0{name}\0{what}", what, among) for what, among in choices.items()})


def _drawn(key: str, what: str, among: Sequence[Any]) -> Any:
    if not len(among):
        raise ValueError(f"variant: {what} has no values to choose from")
    number = int.from_bytes(hashlib.sha256(key.encode()).digest(), "big")  # far larger than any list: no bias to see
    return among[number % len(among)]
