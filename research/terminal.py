"""`python -m research` on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from research import page
from research.runs import ClaimRun, claims, load, missing, run_seed, saved_runs


def show_claims(out: Console) -> None:
    """The claims, one per line."""
    table = Table.grid(padding=(0, 2))
    for name in claims():
        table.add_row(Text(name, style="bold", no_wrap=True), Text(load(name).CLAIM.title))
    out.print(table)


def reproduce(
    out: Console, names: Sequence[str], every: bool, scale: str, seeds: int, folder: Path, write: Path | None
) -> None:
    """Runs what is missing, prints the findings and, if `write` is a folder, writes the page of all saved runs.

    Raises LookupError for an unknown claim, ModuleNotFoundError for a missing package, ValueError for a damaged file.
    """
    known = list(claims())
    names = known if every else names
    for name in names:
        load(name)  # an unknown name is reported before the first claim runs
    run_missing(out, list(missing(names, scale, seeds, folder)), scale, folder)
    for name in names:
        show(out, page.result(name, kept_runs(name, scale, seeds, folder)))
    if write is not None:
        there = {name: kept_runs(name, scale, seeds, folder) for name in known}
        results = [page.result(name, runs) for name, runs in there.items() if runs]
        unrun = [name for name, runs in there.items() if not runs]
        out.print(f"{page.write(results, write, unrun)}: {len(results)} of {len(known)} claims")


def kept_runs(name: str, scale: str, seeds: int, folder: Path) -> list[ClaimRun]:
    """The saved runs of a claim whose seeds are below `seeds`."""
    return [run for run in saved_runs(name, scale, folder) if run.seed < seeds]


def run_missing(out: Console, todo: Sequence[tuple[str, int]], scale: str, folder: Path) -> None:
    """Runs and saves each (claim, seed) of `todo`, with a progress bar."""
    columns = [SpinnerColumn(), MofNCompleteColumn(), BarColumn(20), TextColumn("{task.description}")]
    with Progress(*columns, TimeElapsedColumn(), console=out, refresh_per_second=2, disable=not todo) as bar:
        task = bar.add_task("", total=len(todo))
        for name, seed in todo:
            bar.update(task, description=f"{name}, seed {seed}")
            run = run_seed(name, seed, scale, folder)
            bar.console.print(f"{name}, seed {seed}: {run.seconds:.0f} s")
            bar.advance(task)


def show(out: Console, result: page.ClaimReport) -> None:
    """The claim, its findings and the verdict."""
    style = "green" if result.holds else "yellow"
    out.print("", Text(result.name, style="bold").append(f": {result.verdict}", style=style), sep="\n")
    out.print(Text(result.module.CLAIM.title, style="dim"))
    table = Table("", "finding", "measured", "band", box=None, padding=(0, 2, 0, 0))
    for finding in result.findings:
        mark = Text("✓", style="green") if finding.holds else Text("✗", style="red")
        table.add_row(mark, finding.sentence, finding.summary, finding.band)
    out.print(table)
    if not result.holds and result.module.CLAIM.remark:
        out.print(Text(result.module.CLAIM.remark))
