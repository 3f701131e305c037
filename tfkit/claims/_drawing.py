"""Figures that several claims share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfkit.reproduce import Numbers


def dots(axis: Any, runs: Sequence[Numbers], names: dict[str, str], label: str) -> None:
    """A row of dots for each of the measurements that `names` lists with what to call them: a dot a seed."""
    for place, name in enumerate(names):
        axis.plot([run[name] for run in runs], [-place] * len(runs), "o", alpha=0.7)
    axis.set(yticks=[-place for place in range(len(names))], yticklabels=list(names.values()), xlabel=label)
    axis.set_ylim(-len(names) + 0.4, 0.6)
    axis.locator_params(axis="x", nbins=5)
