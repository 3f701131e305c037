"""`python -m bench.scale`: docs/scale.md from docs/scale.json; `--measure` and `--real N` renew its measurements."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.scale import page, real, simulate
from bench.scale.measure import ServiceTimes, measure
from tfkit_course.command_line import make_parser

DOCS = Path(__file__).parents[2] / "docs"
WORKERS, CORES = (1, 2, 4), (4, 8, 16)
HARD_RUSH_H = 0.25
ASSUMED = {one.name: one for one in fields(simulate.SimulatedTerm)}


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(
        "bench.scale",
        """
        Simulate a term with many students from the service times in docs/scale.json, and write docs/scale.md with its
        figures. --measure and --real take new measurements first.
        """,
        exits={0: "done", 2: "scale.json lacks measurements"},
        examples=(
            "python -m bench.scale",
            "python -m bench.scale --measure 40 --real 1000",
        ),
    )
    parser.add_argument(
        "--measure", type=int, metavar="N", help="measure service times on this machine with N submissions"
    )
    parser.add_argument("--real", type=int, metavar="N", help="grade N real submissions in one run (a minute for 60)")
    parser.add_argument(
        "--real-minutes", type=float, default=float("inf"), metavar="M", help="stop --real after M minutes"
    )
    parser.add_argument("--real-workers", type=int, default=2, metavar="N",
                        help="number of workers for --real (default: %(default)s)")  # fmt: skip
    parser.add_argument(
        "--workers", type=int, nargs="+", default=WORKERS, metavar="N", help="numbers of workers to simulate"
    )
    parser.add_argument(
        "--cores",
        type=int,
        nargs="+",
        default=CORES,
        metavar="N",
        help="numbers of cores to simulate for the Check button",
    )
    parser.add_argument(
        "--docs",
        type=Path,
        default=DOCS,
        metavar="DIR",
        help="the folder with scale.json, to which the page is written",
    )
    term = parser.add_argument_group("assumptions about the term")
    for name, one in ASSUMED.items():
        term.add_argument(f"--{name.replace('_', '-')}", type=type(one.default), default=one.default,
                          metavar="X", help=f"{one.metadata['help']} (default: %(default)s)")  # fmt: skip
    return parser


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = _parser()
    options, console = parser.parse_args(arguments), Console(highlight=False)
    kept = _read(options.docs / "scale.json")
    if options.measure:
        kept["times"] = asdict(measure(options.measure, console))
    if options.real:
        kept["real"] = asdict(real.run(options.real, options.real_workers, options.real_minutes, console))
    if lacking := {"times", "real"} - set(kept):
        parser.exit(2, f"{options.docs / 'scale.json'} has no {', '.join(sorted(lacking))}: --measure N, --real N\n")
    (options.docs / "scale.json").write_text(json.dumps(_short(kept), indent=1) + "\n", encoding="utf-8")
    _write(options, kept, console)


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _short(value: Any) -> Any:
    """Numbers to four digits: a diff shows what changed, not noise."""
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _write(options: argparse.Namespace, kept: dict[str, Any], console: Console) -> None:
    term = simulate.SimulatedTerm(**{name: getattr(options, name) for name in ASSUMED})
    times = ServiceTimes(**kept["times"])
    samples = [real.MemorySample(**one) for one in kept["real"]["samples"]]
    found = real.RealRun(**kept["real"] | {"samples": samples})
    served, hard, checks = [], [], []
    rush = replace(term, rush_hours=HARD_RUSH_H, assignments=1)
    for workers in options.workers:
        served.append(simulate.serve(term, times, workers))
        hard.append(simulate.serve(rush, times, workers))
        console.print(f"{workers} workers: p95 {served[-1].quantile(0.95):.1f} s")
    for cores in options.cores:
        checks.append(simulate.check(term, times, cores))
        console.print(f"{cores} cores for Check: p95 {checks[-1].quantile(0.95):.1f} s")
    page.draw(served, found, options.docs)
    text = page.text(term, times, served, hard, checks, found)
    (options.docs / "scale.md").write_text(text, encoding="utf-8")
    console.print(f"wrote {options.docs / 'scale.md'}")


if __name__ == "__main__":
    main()
