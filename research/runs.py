"""Runs of claims; each seed's measurements are saved as a line of JSON, so that an interrupted command resumes."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from types import ModuleType

import torch

from research.contract import Numbers
from tfkit import registry

GROUP = "tfkit.claims"  # of entry points
KEPT = Path("build/research")


@dataclass(frozen=True)
class ClaimRun:
    """One seed's measurements and the circumstances of the run."""

    seed: int
    scale: str
    size: dict
    numbers: Numbers
    seconds: float
    date: str
    machine: str


def claims() -> dict[str, str]:
    """Claim -> dotted module, in `research.claims` or of an entry point. Raises ValueError on a clash."""
    return registry.find_plugins("research.claims", Path(__file__).parent / "claims", GROUP, "claim")


def load(name: str) -> ModuleType:
    """The module of a claim. Raises LookupError that lists the known ones."""
    return registry.import_plugin(name, claims(), "claim")


def machine() -> str:
    """The kind of machine, not its name: "x86_64, 2 cores, 1 thread"."""
    counts = {"core": os.cpu_count() or 1, "thread": torch.get_num_threads()}
    return ", ".join([platform.machine(), *(f"{n} {what}{'s' if n > 1 else ''}" for what, n in counts.items())])


def saved_runs(name: str, scale: str, folder: Path = KEPT) -> list[ClaimRun]:
    """The saved runs of a claim at its current sizes, by seed; a later run of a seed replaces an earlier one.

    Raises ValueError for a file of another format.
    """
    file, size = folder / f"{name}.jsonl", plain(asdict(load(name).SCALES[scale]))
    if not file.exists():
        return []
    found = {}
    for number, row in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            run = ClaimRun(**json.loads(row))
        except (ValueError, TypeError):
            raise ValueError(f"{file}, line {number}: not a run of a claim; delete that line to go on") from None
        if run.size == size:
            found[run.seed] = run
    return [found[seed] for seed in sorted(found)]


def plain(numbers: dict) -> dict:
    """The numbers as they are after a round trip through JSON. Raises TypeError for other values, such as tensors."""
    return json.loads(json.dumps(numbers))


def run_seed(name: str, seed: int, scale: str, folder: Path = KEPT) -> ClaimRun:
    """Runs a claim for one seed and saves the measurements."""
    module, start = load(name), time.process_time()
    size = module.SCALES[scale]
    torch.manual_seed(seed)
    numbers = module.run(seed, size)
    seconds = round(time.process_time() - start, 1)  # the wall clock would include whatever else the machine does
    run = ClaimRun(seed, scale, plain(asdict(size)), plain(numbers), seconds, date.today().isoformat(), machine())
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run)) + "\n")
    return run


def missing(names: Sequence[str], scale: str, seeds: int, folder: Path = KEPT) -> Iterator[tuple[str, int]]:
    """The claims and seeds that have still to be run."""
    for name in names:
        there = {run.seed for run in saved_runs(name, scale, folder)}
        yield from ((name, seed) for seed in range(seeds) if seed not in there)
