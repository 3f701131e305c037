"""`python -m bench.gpu`: measurements on one GPU, in four parts of under ten minutes each, without a network.

    make gpu                 all parts, one after the other; without a GPU it says so and measures nothing
    make gpu PARTS=decoding  one of them
    make gpu LEASE=14        what fits into 14 minutes, of all parts, the most wanted first (`bench.gpu_lease`)
    make gpu TINY=1          the same script with tiny models on the CPU, in seconds: a test of the script itself

Each part is a list of cases; those without a figure on docs/benchmarks-gpu.md come first. The figures of a case are
written to OUT/<part>.jsonl when it is done, and recorded cases are not measured again, so that an interrupted run
resumes where it was. A case that raises or takes too long, or in which the process was killed, is recorded as failed
with its reason and the figures that it had; `--retry` tries it again. OUT/tables.md has the tables of all parts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from bench import gpu_cases, gpu_lease
from bench.gpu_cases import BenchmarkCase, Setup, first_line, time_limit
from tfkit_course.command_line import make_parser

NO_CARD = "no CUDA device is here, so nothing was measured; `make gpu TINY=1` tries the script itself, on the CPU"


@dataclass(frozen=True)
class BenchmarkPart:
    """Cases that are measured in one go, and the columns of their table."""

    title: str
    cases: Callable[[Setup], list[BenchmarkCase]]
    columns: tuple[str, ...]


PARTS = {
    "contact": BenchmarkPart("Contact", gpu_cases.contact, ("measured", "unit", "seconds")),
    "training": BenchmarkPart("Forward pass and training step", gpu_cases.training, gpu_cases.TRAINING_COLUMNS),
    "decoding": BenchmarkPart("Decoding", gpu_cases.decoding, gpu_cases.DECODING_COLUMNS),
    "grading": BenchmarkPart("Grading, and `tfkit.train`", gpu_cases.grading, ("measured", "unit", "seconds")),
}
Row = dict[str, Any]
OTHER_CARDS = Path(__file__).with_name("gpu_other_cards.md")  # what other cards than the page's showed
PAGE = gpu_cases.ROOT / "docs" / "benchmarks-gpu.md"
SHORTEST = 30.0  # seconds that a case has at least, however late it starts


def environment(setup: Setup) -> Row:
    """The environment that figures depend on; figures of two environments are not mixed."""
    found: Row = {"tiny": setup.tiny, "torch": torch.__version__}
    for package in ("transformers", "triton"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    if setup.device != "cuda":
        return found | {"device": f"{platform.machine()} CPU"}
    card = torch.cuda.get_device_properties(0)
    return found | {"device": card.name, "memory": card.total_memory, "cuda": torch.version.cuda}


class Record:
    """The measurements of one part, one JSON object per line: first the environment, then the start and end of each
    case.

    Raises ValueError if the file holds figures from another environment."""

    def __init__(self, file: Path, here: Row) -> None:
        self.file = file
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
        if lines and lines[0] != here:
            differ = sorted(key for key in {*lines[0], *here} if lines[0].get(key) != here.get(key))
            raise ValueError(f"{file} holds figures of another {', '.join(differ)}: choose another --out, or delete it")
        self.rows: dict[str, Row] = {}
        for line in lines[1:]:
            self.rows[line["case"]] = {"error": "cut off"} if "began" in line else line
        if not lines:
            file.parent.mkdir(parents=True, exist_ok=True)
            self.append(here)

    def append(self, line: Row) -> None:
        """Appends a line and flushes it to disk at once."""
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    def begin(self, name: str) -> None:
        """Records the start of a case: if no end follows, the process died in it."""
        self.append({"case": name, "began": time.strftime("%Y-%m-%d %H:%M:%S")})

    def end(self, name: str, values: Row) -> None:
        """Records the figures of a case, or {"error": reason}."""
        self.rows[name] = values
        self.append({"case": name, **values})

    def is_done(self, name: str, retry: bool) -> bool:
        """Whether to skip a case."""
        return name in self.rows and not (retry and "error" in self.rows[name])


def measure_case(case: BenchmarkCase, record: Record, setup: Setup, most: float) -> None:
    """Runs a case for at most so many seconds, or its own limit, and records its figures."""
    record.begin(case.name)
    began, setup.figures = time.monotonic(), {}
    try:
        with time_limit(case.limit if setup.tiny else min(case.limit, most)):
            values = case.run(setup)
    except Exception as error:  # one case that fails for any reason must not stop the others
        values = {**setup.figures, "error": first_line(error)}
    record.end(case.name, {**values, "seconds": round(time.monotonic() - began, 1)})
    print(f"  {case.name}: {record.rows[case.name].get('error') or 'measured'}", file=sys.stderr, flush=True)


def measure(cases: Iterable[BenchmarkCase], record: Record, setup: Setup, seconds: float, retry: bool) -> list[str]:
    """Runs the unrecorded cases until the time is up -> the names of the cases that are left"""
    end, left = time.monotonic() + seconds, []
    for case in cases:
        if record.is_done(case.name, retry):
            continue
        began = time.monotonic()
        if began > end:
            left.append(case.name)
            continue
        measure_case(case, record, setup, max(end - began, SHORTEST))
    return left


def rows_on_page() -> list[list[str]]:
    """The cells of each row of each table on the page of results."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return [[part.strip() for part in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def measured_on_page() -> set[str]:
    """The names of the cases that have a figure on the page of results."""
    return {name for name, *cells in rows_on_page() if any(cells)}


def seconds_on_page() -> dict[str, float]:
    """The seconds that cases took by the page of results, whose last column they are; of two, the longer."""
    found: dict[str, float] = {}
    for name, *cells in rows_on_page():
        with contextlib.suppress(ValueError, IndexError):
            found[name] = max(found.get(name, 0.0), float(cells[-1].replace(",", "")))
    return found


def unmeasured_first(cases: list[BenchmarkCase]) -> list[BenchmarkCase]:
    """The same cases, those first that have no figure on the page of results."""
    measured = measured_on_page()
    return sorted(cases, key=lambda case: case.name in measured)


def cell(value: Any) -> str:
    """A figure as the table shows it; empty if it was not measured."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value).replace("|", "\\|")


def table(names: Iterable[str], rows: dict[str, Row], columns: tuple[str, ...]) -> str:
    """A Markdown table; a case that was not measured has empty cells, and one that failed gives its reason in the
    first."""
    lines = [f"| case | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    for name in names:
        row = rows.get(name, {})
        cells = [cell(row.get(column)) for column in columns]
        if "error" in row:
            cells[0] = f"failed: {cell(row['error'])}"
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(directory: Path, setup: Setup | None = None) -> str:
    """The text of docs/benchmarks-gpu.md, from the records in a directory; columns without records are empty."""
    setup, parts, header = setup or Setup("cuda", tiny=False), [], {}
    for name, part in PARTS.items():
        file = directory / f"{name}.jsonl"
        rows: dict[str, Row] = {}
        if file.exists():
            header = json.loads(file.read_text(encoding="utf-8").partition("\n")[0])
            rows = Record(file, header).rows
        parts.append(f"## {part.title}\n\n{table([c.name for c in part.cases(setup)], rows, part.columns)}")
    measured = (
        "Measured on {device}, torch {torch}, transformers {transformers}.".format(**header) if header else NOTHING
    )
    parts.append(OTHER_CARDS.read_text(encoding="utf-8").strip())
    return f"{HEADER}\n{measured}\n\n{GOALS}\n" + "\n\n".join(parts) + "\n"


HEADER = """# Benchmarks on a GPU

`make gpu` measures all of it on one card without a network, in four parts of under ten minutes each; a run that was cut
short goes on where it was. `make gpu LEASE=14` measures what fits into 14 minutes, the most wanted first.
`python -m bench.gpu --page docs/benchmarks-gpu.md` writes this page from what is in `build/gpu`, and the figures of
other cards from `bench/gpu_other_cards.md`.
"""
NOTHING = """**No GPU has been available: nothing on this page has been measured, and every figure is missing.** What is
tested without one: that the script runs (`make gpu TINY=1`, also in CI) and, by a device that is pretended on the CPU,
that models mix no devices and do not wait for one in a forward pass (`tests/models/test_devices.py`)."""
GOALS = """Goals, on an H100 or H200: a token of gpt2-xl and llama-3.2-1b takes at most twice as long as reading weights
and cache once at the measured copy rate, 1.5 times if it can be reached, and one of bart-large three times; training
reaches 50 % of the measured rate of bf16 products for gpt2-medium, bert-large and llama-3.2-1b compiled, 40 % for
t5-large and xlnet-large; llama-3.2-1b's step is 1.05 times as fast as transformers', eager and compiled; dense
attention 500 TFLOP/s at 8,192 tokens; compiled, nothing is slower than transformers compiled, and relative and sparse
models are 1.5 times as fast.

How to read the tables: times are the best of several runs, by the host's clock round a synchronisation. "transformers"
is its model of the same configuration, freshly initialised, with PyTorch's attention kernels; "compiled" compiles each
layer (training) or the decoding step. Training is bfloat16 autocast with AdamW, weights and moments float32, that of
tfkit with the chunked loss of `tfkit.train`, that of transformers with its own;
"padded" has an attention mask that hides an eighth of half of the rows. "Of products" is the share of the rate that
bf16 products of 8,192 x 8,192 reach. Decoding is bfloat16 from 128 tokens on; a token is one of the second 32 of 64,
so that neither the prompt nor capturing the CUDA graph counts. Products and attention of one row are now the kernels of
`tfkit.nn.triton_single_row`. Empty cells were not measured.
docs/decisions/gpu.md#205-findings-of-the-first-run-on-a-gpu says what broke on the first GPU, which goals are missed,
and which rows are older than the present code.

**No card has been there since** the chunked loss was changed, the kernels for one row were written, and an answer of
every exercise was put to boxes: what these bring is not known, and cells without a figure wait for a card. Older than
the kernels: on the H100 the rows "gpt2-xl, 1 row" and "bart-large, 1 row" of decoding, whose tokens are also 63 of 64,
over which capturing is spread; on the H200 "gpt2-xl, 1 row". Older than the loss: all rows of training.
"""


def run_part(name: str, setup: Setup, options: argparse.Namespace) -> bool:
    """Measures a part and writes its table -> whether it is now complete, without a failure"""
    part, record = PARTS[name], Record(options.out / f"{name}.jsonl", environment(setup))
    cases = [case for case in unmeasured_first(part.cases(setup)) if options.only in case.name]
    print(f"{part.title}: {len(cases)} cases", file=sys.stderr, flush=True)
    left = measure(cases, record, setup, 60 * options.minutes, options.retry)
    text = table([case.name for case in cases], record.rows, part.columns)
    (options.out / "tables.md").write_text(page(options.out, setup), encoding="utf-8")
    print(f"\n{part.title}\n\n{text}\n", flush=True)
    if left:
        print(f"{len(left)} cases did not fit into the time: run again to continue", file=sys.stderr)
    return not left and not any("error" in record.rows[case.name] for case in cases)


def run_lease(setup: Setup, options: argparse.Namespace) -> bool:
    """Measures what fits into a lease, and writes tables and results.json -> whether nothing failed"""
    here = environment(setup)
    records = {name: Record(options.out / f"{name}.jsonl", here) for name in PARTS}
    cases = [(name, case) for name, part in PARTS.items() for case in part.cases(setup) if options.only in case.name]
    left = gpu_lease.run(
        gpu_lease.in_order(cases, measured_on_page()), records, setup, options.lease, measure_case, seconds_on_page(),
        options.retry,
    )  # fmt: skip
    (options.out / "tables.md").write_text(page(options.out, setup), encoding="utf-8")
    gpu_lease.write_results(options.out / "results.json", here, records, left)
    gpu_lease.report(left)
    print(page(options.out, setup), flush=True)
    return not any("error" in row for record in records.values() for row in record.rows.values())


def main(arguments: list[str] | None = None) -> int:
    """The command: returns 0 if all is measured, 1 if something failed or is left, 2 if measuring is impossible."""
    parser = make_parser("bench.gpu", (__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--tiny", action="store_true", help="run tiny models on the CPU, to test the script")
    parser.add_argument(
        "--out", type=Path, default=Path("build/gpu"), help="folder of the results (default: %(default)s)"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains this text")
    parser.add_argument(
        "--minutes", type=float, default=9.0, help="minutes after which no further case of a part is started"
    )
    parser.add_argument("--lease", type=float, metavar="MINUTES", help="measure what fits, the most wanted first")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for one figure (default: 90; with --tiny 600)")
    parser.add_argument("--retry", action="store_true", help="repeat cases that failed")
    parser.add_argument("--page", type=Path, help="write the page from the results in --out, without measuring")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"no part {unknown[0]!r}; available: {', '.join(PARTS)}")
    if options.page:
        if not any((options.out / f"{name}.jsonl").exists() for name in PARTS):
            parser.error(
                f"{options.out} has no results, and the page would lose its figures: measure first, or give --out"
            )
        options.page.write_text(page(options.out), encoding="utf-8")
        return 0
    if not options.tiny and not torch.cuda.is_available():
        print(f"bench.gpu: {NO_CARD}", file=sys.stderr)
        return 2
    options.out = options.out / "tiny" if options.tiny else options.out
    limit = options.limit or (600.0 if options.tiny else gpu_lease.FIGURE if options.lease else 90.0)
    setup = Setup("cpu" if options.tiny else "cuda", options.tiny, limit)
    if options.tiny:
        torch.set_num_threads(1)  # tiny operations take twice as long when they are shared
    try:
        if options.lease:
            return 0 if run_lease(setup, options) else 1
        whole = [run_part(name, setup, options) for name in options.parts or PARTS]
    except ValueError as error:
        print(f"bench.gpu: {error}", file=sys.stderr)
        return 2
    return 0 if all(whole) else 1


if __name__ == "__main__":
    sys.exit(main())
