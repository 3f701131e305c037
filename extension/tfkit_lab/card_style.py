"""The style sheet of cards in notebooks."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path


@cache
def card_style(*additions: str) -> str:
    """The style sheet of verdicts, which all cards share, with the rules of these files of this package."""
    shared = files("autograder.feedback").joinpath("card.css").read_text(encoding="utf-8")
    return shared + "".join((Path(__file__).parent / name).read_text(encoding="utf-8") for name in additions)
