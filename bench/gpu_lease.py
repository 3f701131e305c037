"""`make gpu LEASE=14`: what one card can show in a quarter of an hour, the most wanted first.

The cases of all parts are one list: what the card reaches, laws, boxes and kernels, LLaMA's training and decoding, then
whatever has no figure on the page yet. A row has 40 seconds and a figure 15, so that no row holds up the others; a row
whose seconds are known, from the page or from an earlier try, has half as many again as it took, and so has each of its
figures; the tests have two minutes. What does not fit, or is not done in its time, is left for the next lease, which
goes on where this one ended. The last half minute is for a profile of the slowest training step, and OUT/results.json
has all figures.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench import gpu_cases
from bench.gpu_cases import BenchmarkCase, PublishedSize, Setup

TESTS = ("laws of models on the card", "answers in boxes", "kernels and CUDA graphs on the card")
PRIORITY = (
    "the card", "copy", "product of 8,192 x 8,192, bf16", *TESTS, "llama-3.2-1b, 2,048 tokens", "llama-3.2-1b, 1 row",
    "gpt2-xl, 1 row", "gpt2-xl, 1 row, kernels", "bart-large, 1 row", "gpt2-medium, 1,024 tokens",
    "bert-large-uncased, 512 tokens", "t5-large, 512 tokens", "xlnet-large-cased, 512 tokens",
)  # fmt: skip
ROW, TEST, FIGURE, PROFILE = 40.0, 120.0, 15.0, 30.0  # seconds
MARGIN = 1.5  # times the seconds that a row is known to take
SLOWEST = "slowest step, kernels"


def limits_of(case: BenchmarkCase, known: float, figure: float) -> tuple[float, float]:
    """The seconds that a case and each of its figures may take; known: those that it has taken, 0 if unknown."""
    return max(TEST if case.name in TESTS else ROW, MARGIN * known), max(figure, MARGIN * known)


def is_left(row: dict[str, Any]) -> bool:
    """Whether a case, or a figure of it, was not done in its time: it is asked again in the next lease."""
    return any("TimeoutError" in value for value in row.values() if isinstance(value, str))


def in_order(cases: list[tuple[str, BenchmarkCase]], measured: set[str]) -> list[tuple[str, BenchmarkCase]]:
    """(part, case) by priority; then those without a figure on the page, then the others."""
    rank = {name: place for place, name in enumerate(PRIORITY)}
    return sorted(cases, key=lambda pair: (rank.get(pair[1].name, len(rank)), pair[1].name in measured))


def run(
    cases: list[tuple[str, BenchmarkCase]], records: dict[str, Any], setup: Setup, minutes: float,
    measure: Callable[[BenchmarkCase, Any, Setup, float], None], seconds: dict[str, float], retry: bool = False,
) -> list[str]:  # fmt: skip
    """Measures what fits into so many minutes, each case into the record of its part; seconds: what cases are known to
    take -> the names of what is left"""
    end, left, figure = time.monotonic() + 60 * minutes, [], setup.limit
    kept = min(PROFILE, 15 * minutes)  # for the profile
    for part, case in cases:
        done = records[part].rows
        if records[part].is_done(case.name, retry) and not is_left(done[case.name]):
            continue
        room = end - kept - time.monotonic()
        if room <= 0:
            left.append(case.name)
            continue
        known = max(seconds.get(case.name, 0.0), done.get(case.name, {}).get("seconds", 0.0))
        most, setup.limit = limits_of(case, known, figure)
        measure(case, records[part], setup, min(most, room + kept))
        setup.limit = figure
        if is_left(done.get(case.name, {})):
            left.append(case.name)
    slowest = slowest_size(records["training"].rows)
    if slowest is not None and not records["training"].is_done(SLOWEST, retry) and time.monotonic() < end:
        case = BenchmarkCase(SLOWEST, partial(profile_training, slowest))
        measure(case, records["training"], setup, max(end - time.monotonic(), 1.0))
    return left


def slowest_size(rows: dict[str, dict[str, Any]]) -> PublishedSize | None:
    """The size whose step stands worst against transformers', or None if none was measured."""
    found = {
        size.name: (row["transformers / tfkit"], size)
        for size in gpu_cases.TRAINED
        if isinstance((row := rows.get(size.name, {})).get("transformers / tfkit"), float)
    }
    return min(found.values(), key=lambda pair: pair[0])[1] if found else None


def profile_training(size: PublishedSize, setup: Setup) -> dict[str, Any]:
    """The kernels of one training step that take the most time: in the records only"""
    setup.free()
    model: Any = size.tfkit_model(setup).train()
    step, batch = gpu_cases.training_step(model, setup), gpu_cases.batch_of(size, setup, model.config.vocab_size)
    step(batch)
    return {"size": size.name, **gpu_cases.kernels_of(lambda: step(batch), setup)}


def write_results(file: Path, environment: dict[str, Any], records: dict[str, Any], left: list[str]) -> None:
    """All figures of all parts as one JSON file."""
    rows = {part: record.rows for part, record in records.items()}
    found = {"environment": environment, "rows": rows, "left": left}
    file.write_text(json.dumps(found, indent=1, default=str) + "\n", encoding="utf-8")


def report(left: list[str]) -> None:
    """Says what did not fit."""
    if left:
        print(f"{len(left)} cases did not fit into the lease: run again to continue", file=sys.stderr)
