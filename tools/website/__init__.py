"""The project's site, made from what is there: `make site`, or `python -m tools.website site`."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class SiteError(Exception):
    """What a page should be made from is missing or does not fit; the words say what and where."""
