"""docs/scale.md and its pictures, from measured times, simulated terms and a real run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.scale.measure import ServiceTimes
from bench.scale.real import RealRun
from bench.scale.simulate import HOUR, WEEK, SimulatedTerm, WaitingTimes

FOLDER = Path("images")
COLOURS = ("#b45309", "#0f766e", "#1d4ed8", "#7c3aed", "#be123c", "#334155")
TEMPLATE = Path(__file__).with_name("template.md")


def text(
    term: SimulatedTerm, times: ServiceTimes, served: Sequence[WaitingTimes], hard: Sequence[WaitingTimes],
    checks: Sequence[WaitingTimes], real: RealRun,
) -> str:  # fmt: skip
    """The page docs/scale.md in Markdown."""
    names = {"check": "a check of one exercise", "grade": "grading a submission", "feedback": "its feedback page",
             "write": "writing its rows and files", "look": "a poll of the exchange"}  # fmt: skip
    measured = "\n".join(f"| {label} | {_ms(getattr(times, name), 0.5)} | {_ms(getattr(times, name), 0.95)} |"
                         for name, label in names.items())  # fmt: skip
    arrivals, write = term.submissions(), float(np.median(times.write))
    deadline = np.arange(1, term.assignments + 1) * WEEK
    peak = max(int(((arrivals > end - HOUR) & (arrivals <= end)).sum()) for end in deadline)
    tenth = next(one for one in real.samples if one.graded >= real.submissions / 10)
    return TEMPLATE.read_text(encoding="utf-8").format(
        date=times.measured, term=term, machine=times.machine, unit=times.unit, number=len(times.grade),
        measured=measured, rush=100 * term.rush, submissions=len(arrivals), peak=peak, write=1000 * write,
        writer=60 / write,
        served=_rows(served), hard=_rows(hard),
        checks="\n".join(f"| {one.servers} | {_waits(one)} | {one.longest_queue:,} |" for one in checks),
        real_number=real.submissions, real_workers=real.workers, real_minutes=real.seconds / 60,
        handed_in=real.handed_in, stopped="" if real.submissions == real.handed_in else ", and was stopped there",
        tenth=tenth.graded, at_tenth=tenth.grader_mib, at_end=real.samples[-1].grader_mib,
        with_workers=max(one.grader_mib + one.workers_mib for one in real.samples),
    )  # fmt: skip


def _rows(outcomes: Sequence[WaitingTimes]) -> str:
    return "\n".join(
        f"| {one.servers} | {_waits(one)} | {one.longest_queue:,} | {one.writes_a_minute} |" for one in outcomes
    )


def _ms(sample: Sequence[float], share: float) -> str:
    return f"{1000 * float(np.quantile(sample, share)):.0f}"


def _waits(one: WaitingTimes) -> str:
    return " | ".join(_duration(one.quantile(share)) for share in (0.5, 0.95, 0.99))


def _duration(seconds: float) -> str:
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def draw(served: Sequence[WaitingTimes], real: RealRun, folder: Path) -> None:
    """Draw both pictures into `folder`/images."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tfkit", "font.family": "sans-serif"}):
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        _save(_queue(served), folder / FOLDER / "scale-queue.svg")
        _save(_memory(real), folder / FOLDER / "scale-memory.svg")


def _figure(x: str, y: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _queue(served: Sequence[WaitingTimes]) -> Any:
    figure, axes = _figure("hours before the deadline", "submissions that wait")
    for one, colour in zip(served, COLOURS, strict=False):
        day = [look for look in one.queue if WEEK - 24 * HOUR <= look[0] <= WEEK + 12 * HOUR]
        hours, lengths = [(WEEK - at) / HOUR for at, _ in day], [length for _, length in day]
        axes.plot(hours, lengths, color=colour, linewidth=1.6, label=f"{one.servers} workers")
    axes.set_xlim(24, -12)
    axes.set_yscale("symlog", linthresh=10)
    axes.set_ylim(bottom=0)
    axes.axvline(0, color="#334155", linewidth=1, linestyle=":")
    axes.legend(frameon=False, fontsize=9)
    return figure


def _memory(real: RealRun) -> Any:
    figure, axes = _figure("submissions graded", "MiB")
    graded = [one.graded for one in real.samples]
    axes.plot(graded, [one.grader_mib for one in real.samples], color=COLOURS[1], label="the grader")
    axes.plot(graded, [one.workers_mib for one in real.samples], color=COLOURS[2], linewidth=1,
              label="its workers and their boxes")  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9)
    return figure


def _save(figure: Any, file: Path) -> None:
    figure.savefig(file, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
