"""Curves of a run: from a folder that `tfkit.train` wrote, from a History, or from lists."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfkit_lab.pictures import Picture, table
from tfkit_lab.widgets import STATIC

Runs = Mapping[str, Sequence[float]]


def training(run: str | Path | Runs | Any, *, title: str = "Training") -> Training:
    """run: a folder with metrics.csv, or that file; a `History`; or name -> values, one per step. A value that is not
    finite is a gap. Raises ValueError if there is nothing to draw."""
    series = from_csv(Path(run)) if isinstance(run, str | Path) else from_values(getattr(run, "losses", run))
    series = [one for one in series if one["values"]]
    if not series:
        raise ValueError(f"{title}: there are no values to draw")
    return Training({"schema": "tfkit.trace/1", "kind": "training", "title": title, "series": series})


def from_csv(path: Path) -> list[dict[str, Any]]:
    """The curves of a run's metrics.csv, a column each. Raises OSError, ValueError for an entry that is not a
    number."""
    file = path / "metrics.csv" if path.is_dir() else path
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    names = [name for name in (rows[0] if rows else {}) if name != "step"]
    return [
        curve(name, [(int(row["step"]), float(row[name])) for row in rows if row[name] not in ("", None)])
        for name in names
    ]


def from_values(values: Sequence[float] | Runs) -> list[dict[str, Any]]:
    """The curves of lists; a single list is "loss". Steps count from 1."""
    runs = values if isinstance(values, Mapping) else {"loss": values}
    return [curve(name, list(enumerate(map(float, given), start=1))) for name, given in runs.items()]


def curve(name: str, points: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """(step, value) pairs as in a trace: six digits, None if not finite."""
    finite = [float(f"{value:.6g}") if math.isfinite(value) else None for _, value in points]
    return {"name": name, "steps": [step for step, _ in points], "values": finite}


class Training(Picture):
    """Curves over steps."""

    _esm = script = STATIC / "training.js"

    def body(self) -> str:
        """A table of each curve's first, least, greatest and last value; steps without a value are skipped."""

        def row(series: dict[str, Any]) -> list[Any]:
            """Four dashes in place of numbers where a curve has no value."""
            known = [value for value in series["values"] if value is not None]
            return [series["name"], *([known[0], min(known), max(known), known[-1]] if known else ["–"] * 4)]

        return table(("curve", "at first", "least", "most", "at last"), map(row, self.trace["series"]))


VIEW = Training
