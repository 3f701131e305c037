"""Figures that several claims share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from research import Numbers


def dots(axis: Any, runs: Sequence[Numbers], names: dict[str, str], label: str) -> None:
    """A row of dots, one per seed, for each measurement; `names` maps measurements to their labels."""
    for row, name in enumerate(names):
        axis.plot([run[name] for run in runs], [-row] * len(runs), "o", alpha=0.7)
    axis.set(yticks=[-row for row in range(len(names))], yticklabels=list(names.values()), xlabel=label)
    axis.set_ylim(-len(names) + 0.4, 0.6)
    axis.locator_params(axis="x", nbins=5)
