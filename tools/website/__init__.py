"""Builds the project's site from the repository: `make site`, or `python -m tools.website site`."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class SiteError(Exception):
    """The source of a page is missing or invalid; the message says what and where."""
