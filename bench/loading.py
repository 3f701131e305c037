"""The cost of loading: tfkit's from_pretrained against transformers', each in its own process.

    python -m bench.loading bert-large gpt2-xl --turns 2      # these rows alone; `make bench` has them all

The weights are random, saved by transformers. The CPU seconds and the peak memory are those of the whole process,
including imports and a forward pass over eight tokens, because that is what a user waits for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Any

from tfkit_course.command_line import make_parser

CHILD = """
import os, resource, sys
import torch
torch.set_num_threads(1)
side, directory, kind, dtype = sys.argv[1:]
if side == "tfkit":
    import tfkit
    model = tfkit.from_pretrained(directory, dtype=dtype)
else:
    import transformers
    model = getattr(transformers, kind).from_pretrained(directory, dtype=dtype)
with torch.no_grad():
    model.eval()(input_ids=torch.arange(3, 11)[None])
used = resource.getrusage(resource.RUSAGE_SELF)
peak = used.ru_maxrss
if os.path.exists("/proc/self/status"):  # on Linux ru_maxrss is at least the peak of the process that started this one
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
print(used.ru_utime + used.ru_stime, peak)
"""
HEAD = """| checkpoint | CPU seconds, tfkit | transformers | over tfkit | peak MB, tfkit | transformers | over tfkit |
|---|---:|---:|---:|---:|---:|---:|"""
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
XL = {"n_embd": 1600, "n_layer": 48, "n_head": 25}


@dataclass(frozen=True)
class LoadingRow:
    """A published size: how it is saved (dtype, largest shard) and the dtype that is loaded."""

    name: str
    config: str
    model: str
    fields: dict[str, Any] = field(default_factory=dict)
    file_dtype: str = "float32"
    dtype: str = "auto"
    shards: str = "50GB"


ROWS = [
    LoadingRow("bert-large", "BertConfig", "BertForMaskedLM", LARGE),
    LoadingRow("bert-large, in shards", "BertConfig", "BertForMaskedLM", LARGE, shards="200MB"),
    LoadingRow("bert-large, bfloat16", "BertConfig", "BertForMaskedLM", LARGE, file_dtype="bfloat16"),
    LoadingRow("bert-large, bfloat16 to float32", "BertConfig", "BertForMaskedLM", LARGE, "bfloat16", "float32"),
    LoadingRow("gpt2-xl", "GPT2Config", "GPT2LMHeadModel", XL),
]


def save(row: LoadingRow, directory: str) -> None:
    """Writes the row's model with random weights, using transformers."""
    import torch
    import transformers

    torch.manual_seed(0)
    model = getattr(transformers, row.model)(getattr(transformers, row.config)(**row.fields))
    model.to(getattr(torch, row.file_dtype)).save_pretrained(directory, max_shard_size=row.shards)


def load(side: str, row: LoadingRow, directory: str) -> tuple[float, int]:
    """CPU seconds and peak memory (KB) of a loading process. Raises ValueError with its last output line if it
    fails."""
    command = [sys.executable, "-c", CHILD, side, directory, row.model, row.dtype]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{row.name}: {side} failed to load: {done.stderr.strip().splitlines()[-1]}")
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def table(rows: list[LoadingRow], turns: int = 3) -> str:
    """A Markdown table with a line for each row."""
    return "\n".join([HEAD, *(line(row, turns) for row in rows)])


def line(row: LoadingRow, turns: int = 3) -> str:
    """A line of the table: the best seconds and megabytes of both sides over alternating runs, and the ratio of
    transformers over tfkit."""
    with tempfile.TemporaryDirectory() as directory:
        save(row, directory)
        runs = [[load(side, row, directory) for side in ("tfkit", "transformers")] for _ in range(turns)]
    (tfkit_time, tfkit_peak), (time, peak) = (map(min, zip(*side, strict=True)) for side in zip(*runs, strict=True))
    memory = f"{tfkit_peak / 1024:,.0f} | {peak / 1024:,.0f} | {peak / tfkit_peak:.2f}"
    return f"| {row.name} | {tfkit_time:.1f} | {time:.1f} | {time / tfkit_time:.2f} | {memory} |"


def main(arguments: list[str] | None = None) -> int:
    """The command: prints the table of some rows, or of all, and the load of the machine."""
    about = (__doc__ or "").partition("\n")[0]
    parser = make_parser("bench.loading", about)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"rows: {', '.join(row.name for row in ROWS)}")
    parser.add_argument(
        "--turns", type=int, default=3, help="runs of each side, of which the best counts (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {row.name for row in ROWS}:
        parser.error(f"no row is called {sorted(unknown)[0]!r}")
    print(table([row for row in ROWS if not options.names or row.name in options.names], options.turns))
    if hasattr(os, "getloadavg"):  # not on Windows
        print(f"load {os.getloadavg()[1]:.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
