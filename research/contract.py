"""The parts of a claim, and functions that claims share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from tfkit.train import fit, linear_rate
from tfkit.train.loop import Batches, History
from tfkit_course import install

Numbers = dict[str, Any]  # values that JSON can hold


@dataclass(frozen=True)
class Claim:
    """`title`: the claim in a sentence. `alt`: a description of the figure for people who cannot see it.

    `remark` is printed with the results: what was tried if a claim does not hold at this scale, and how the paper's
    experiment differs.
    """

    title: str
    paper: str
    alt: str
    remark: str = ""


@dataclass(frozen=True)
class Measurement:
    """A statement that can fail: it holds if every seed's value lies in the band."""

    sentence: str
    values: Sequence[float]
    at_least: float = float("-inf")
    at_most: float = float("inf")
    unit: str = ""

    @property
    def holds(self) -> bool:
        """False without values, and for values that are not numbers."""
        return bool(self.values) and all(self.at_least <= value <= self.at_most for value in self.values)

    @property
    def summary(self) -> str:
        """The mean, and the lowest and highest value over the seeds."""
        mean = sum(self.values) / len(self.values)
        low, high = min(self.values), max(self.values)
        return f"{mean:.3g}{self.unit}" + (f" ({low:.3g} to {high:.3g})" if len(self.values) > 1 else "")

    @property
    def band(self) -> str:
        """The band as the table shows it, with its unit."""
        if self.at_least == float("-inf"):
            return f"≤ {self.at_most:g}{self.unit}"
        if self.at_most == float("inf"):
            return f"≥ {self.at_least:g}{self.unit}"
        return f"{self.at_least:g} to {self.at_most:g}{self.unit}"


def train(model: nn.Module, batches: Batches, steps: int, peak: float, seed: int, **how: Any) -> History:
    """`fit` on the model's own loss without output: linear warm-up over a tenth of the steps, then linear decay to 0.

    `how` is passed to `fit`, including `loss` and `rate`. An interrupt is raised again, because an incomplete run must
    not be saved.
    """
    how.setdefault("loss", lambda model, batch: model(**batch).loss)
    how.setdefault("rate", lambda step: linear_rate(step, peak, max(1, steps // 10), steps + 1))
    history = fit(model, batches, steps=steps, seed=seed, progress=False, **how)
    if history.interrupted:
        raise KeyboardInterrupt
    return history


def cpu_seconds(call: Callable[[], Any], turns: int) -> float:
    """The CPU time of a call in this process, the best of `turns` runs after one warm-up.

    The wall clock would include whatever else the machine does.
    """
    call()
    best = float("inf")
    for _ in range(turns):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def figure(panels: int = 1) -> tuple[Any, list[Any]]:
    """A matplotlib figure with `panels` axes side by side, independent of pyplot's state -> figure, axes"""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"figures are drawn with matplotlib: {install('research')}") from error
    fig = Figure(figsize=(4.2 * panels + 0.6, 3.4), layout="constrained")
    axes = list(fig.subplots(1, panels, squeeze=False)[0])
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    return fig, axes


def lengths(axis: Any, values: Sequence[int], label: str) -> None:
    """Both axes logarithmic, with these lengths as ticks of the x axis and `label` on the y axis."""
    axis.set(xscale="log", yscale="log", xlabel="tokens", ylabel=label)
    axis.set_xticks(values, [f"{value:,}" for value in values])
    axis.minorticks_off()
