"""A training step of a published size as its users take it: that of `tfkit.train` against transformers'.

    python -m bench.training gpt2 --tokens 128 512

Both sides have the same weights, dropout as published, AdamW as one kernel and gradients clipped to a norm of 1, as
transformers' Trainer has them. tfkit also computes the loss from some rows of logits at a time, as `tfkit.train` does.
The matrix products of transformers' step are timed alone: a step with the same products cannot take less, so their
share of transformers' time says how much faster it can become at most. Each row is stored as soon as it is measured
(`bench.kept`).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bench.kept import KeptRows, Row, add_options, environment, kept_file, told
from bench.models import best_times, floor, pair, with_section
from bench.rows import PUBLISHED, BenchmarkRow
from tfkit.nn.onednn import onednn_products
from tfkit.tools.memory import peak_bytes
from tfkit.train.__main__ import model_loss
from tfkit.train.loop import TrainingStep, adamw
from tfkit.train.process_group import ALONE
from tfkit_course.command_line import make_parser

HEAD = (
    "| | tokens | tfkit, ms | transformers, ms | transformers over tfkit | products alone, ms "
    "| transformers over products | tfkit over products | memory |"
)

RULE = "|---" * (HEAD.count("|") - 1) + "|"
HEADING = "## A training step at published sizes"
ONEDNN_HEADING = f"{HEADING}, by oneDNN"


@dataclass(frozen=True)
class StepTimes:
    """The seconds of a training step on both sides and of its matrix products alone; the peak bytes beside weights,
    moments and gradients on both sides."""

    name: str
    tokens: int
    tfkit: float
    transformers: float
    products: float
    memory: tuple[int, int] | list[int]  # a list once it was stored

    def line(self) -> str:
        """The row of the table."""
        cells = [
            self.name, f"{self.tokens:,}", f"{1e3 * self.tfkit:,.0f}", f"{1e3 * self.transformers:,.0f}",
            f"{self.transformers / self.tfkit:.2f}", f"{1e3 * self.products:,.0f}",
            f"{self.transformers / self.products:.2f}", f"{self.tfkit / self.products:.2f}",
            f"{self.memory[1] / self.memory[0]:.2f}",
        ]  # fmt: skip
        return f"| {' | '.join(cells)} |"


def tfkit_step(model: nn.Module, batch: dict[str, Any], onednn: bool = False) -> Callable[[], Any]:
    """A step as `python -m tfkit.train` takes it; onednn: with `--onednn`."""
    step = TrainingStep(model, model_loss(None), adamw(model, 0.01, ALONE, True), 1.0, torch.float32, ALONE)

    def run() -> Any:
        with onednn_products() if onednn else nullcontext():
            return step([batch], 1e-6, 1, None).values()

    return run


def transformers_step(model: Any, batch: dict[str, Any]) -> Callable[[], Any]:
    """A step as transformers' Trainer takes it."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, weight_decay=0.01, fused=True)

    def step() -> float:
        loss = model(**batch).loss
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    return step


def measure(row: BenchmarkRow, tokens: int, rows: int, turns: int, onednn: bool = False) -> StepTimes:
    """Both sides in turns, each at its best, on `rows` texts of `tokens` random ids. Raises ValueError if their losses
    differ without dropout."""
    with tempfile.TemporaryDirectory() as directory:
        reference, candidate = pair(row, directory, "cpu")
    vocabulary = min(reference.config.vocab_size, candidate.config.vocab_size)
    ids = torch.randint(3, vocabulary, (rows, tokens), generator=torch.Generator().manual_seed(tokens))
    batch = {"input_ids": ids, "labels": ids}
    with torch.no_grad():
        losses = [float(model(**batch).loss) for model in (reference, candidate)]
    if abs(losses[0] - losses[1]) > 1e-3:
        raise ValueError(f"{row.name}: the losses are {losses[0]:.4f} and {losses[1]:.4f}")
    steps = transformers_step(reference.train(), batch), tfkit_step(candidate.train(), batch, onednn)
    a, b = best_times(*steps, turns)
    products = floor(steps[0], max(2, turns // 2))
    memory = peak_bytes(steps[1]), peak_bytes(steps[0])
    return StepTimes(row.name, rows * tokens, b, a, products, memory)


def main(arguments: list[str] | None = None) -> int:
    """The command: prints the table, each row as soon as it is measured."""
    about = (__doc__ or "").partition("\n")[0]
    parser = make_parser("bench.training", about)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"sizes: {', '.join(row.name for row in PUBLISHED)}")
    parser.add_argument("--tokens", type=int, nargs="+", default=[128, 512], help="tokens of a text")
    parser.add_argument("--rows", type=int, default=1, help="texts of a batch")
    parser.add_argument(
        "--turns",
        type=int,
        default=5,
        help="measurements of each side, of which the best counts (default: %(default)s)",
    )
    parser.add_argument("--onednn", action="store_true", help="products of tfkit by oneDNN")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the section with these rows on this page")
    add_options(parser)
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {row.name for row in PUBLISHED}:
        parser.error(f"no size is called {sorted(unknown)[0]!r}")
    how = {name: getattr(options, name) for name in ("rows", "turns", "onednn")}
    file = kept_file("training", options, [row.name for row in PUBLISHED], ["onednn"])
    kept = KeptRows(file, environment(**how), options.resume)
    print(f"{HEAD}\n{RULE}", flush=True)
    rows = []
    for size in [row for row in PUBLISHED if not options.names or row.name in options.names]:
        for tokens in options.tokens:
            rows.append(kept.row(f"{size.name} {tokens}", partial(figures, size, tokens, options)))
            print(StepTimes(**rows[-1]["found"]).line(), flush=True)
    if options.write:
        options.write.write_text(with_section(options.write, section(rows, kept.here)), encoding="utf-8")
    return 0


def figures(size: BenchmarkRow, tokens: int, options: argparse.Namespace) -> dict[str, Any]:
    """What is stored of a row."""
    return asdict(measure(size, tokens, options.rows, options.turns, options.onednn))


def section(rows: list[Row], here: Row) -> str:
    """The section of docs/benchmarks.md."""
    texts = "one text" if here["rows"] == 1 else f"{here['rows']} texts"
    products = "tfkit's products by oneDNN" if here["onednn"] else "products as PyTorch chooses them on both sides"
    return f"""{ONEDNN_HEADING if here["onednn"] else HEADING}

Measured by `make bench-training` on {told(rows, here)}.
A step as users of both sides take it: {texts} of so many tokens, published dropout, AdamW as one kernel, gradients
clipped, tfkit's chunked loss; {products}. CPU milliseconds, the best of {here["turns"]} turns a side.

{HEAD}
{RULE}
{chr(10).join(StepTimes(**row["found"]).line() for row in rows)}
"""


if __name__ == "__main__":
    raise SystemExit(main())
