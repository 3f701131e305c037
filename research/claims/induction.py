"""What followed a symbol the last time follows it again: two layers of attention find it, one layer cannot.

A row is a random sequence of distinct symbols, followed by the same sequence again; its length differs from batch to
batch, so that attending to a fixed distance is of no use. Only the text itself tells which symbol comes next: find the
earlier occurrence of the current symbol, and predict the one that followed it. Measured on new rows: the share of
symbols in the second half that a decoder with one layer and one with two, trained alike, predict correctly; and the
largest attention that a head of the two-layer model pays to that position (the paper's prefix matching score). Bands:
two layers get at least 0.9 of them right and one layer at most half; the head pays at least half of its attention (a
trial with half as many steps and another seed gave 0.66, 0.04 and 0.49, and the two layers were still improving).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from tfkit.tracing import trace

CLAIM = Claim(
    title="Two layers of attention learn to continue a sequence that they have seen once; one layer does not",
    paper="Olsson et al. 2022, arXiv:2209.11895, argument 1; Elhage et al. 2021, A Mathematical Framework",
    alt="Left: share of correct symbols in the second half, one dot per seed, near 1 with two layers and far below "
    "with one. Right: the largest attention of a head to the position after the symbol's first occurrence, high with "
    "two layers only",
)
LAYERS = {"one": 1, "two": 2}


@dataclass(frozen=True)
class Size:
    steps: int
    symbols: int = 64
    shortest: int = 6
    longest: int = 16
    width: int = 64
    batch: int = 32
    peak: float = 4e-3
    n_test: int = 100


SCALES = {
    "tiny": Size(steps=1, symbols=8, shortest=3, longest=4, width=16, batch=2, n_test=2),
    "small": Size(steps=800),
    "full": Size(steps=5000, symbols=1000, longest=64, width=256, peak=1e-3, n_test=1000),
}


def repeat_twice(rows: int, length: int, symbols: int, generator: torch.Generator) -> Tensor:
    """int64 [rows,2·length]: `length` different symbols, twice."""
    once = torch.rand(rows, symbols, generator=generator).argsort(-1)[:, :length]
    return once.repeat(1, 2)


def second_half_loss(model: nn.Module, rows: Tensor) -> Tensor:
    """The mean nats of the second half without its first symbol, which cannot be predicted -> scalar"""
    half = rows.size(1) // 2
    logits = model(input_ids=rows[:, :-1]).logits[:, half:]
    return F.cross_entropy(logits.transpose(1, 2), rows[:, half + 1 :])


def run(seed: int, size: Size) -> Numbers:
    """The share of right symbols and the prefix matching score, by the number of layers."""

    def batches(generator: torch.Generator) -> Iterator[Tensor]:
        """Endless: one length for all rows of a batch."""
        while True:
            length = int(torch.randint(size.shortest, size.longest + 1, (), generator=generator))
            yield repeat_twice(size.batch, length, size.symbols, generator)

    numbers: Numbers = {}
    for name, layers in LAYERS.items():
        torch.manual_seed(seed)
        model = tfkit.from_config("llama", "causal_lm", vocab_size=size.symbols, d_model=size.width, n_heads=4,
                                  n_layers=layers, d_ff=2 * size.width)  # fmt: skip
        train(model, batches, size.steps, size.peak, seed, loss=second_half_loss)
        test_rows = repeat_twice(size.n_test, size.longest, size.symbols, torch.Generator().manual_seed(10_000 + seed))
        numbers[name] = {"right": accuracy(model, test_rows), "matching": prefix_matching(model, test_rows)}
    return numbers


@torch.no_grad()
def accuracy(model: nn.Module, rows: Tensor) -> float:
    """The share of the second half, without its first symbol, that is predicted correctly; leaves the model in eval
    mode."""
    half = rows.size(1) // 2
    predicted = model.eval()(input_ids=rows[:, :-1]).logits.argmax(-1)
    return (predicted == rows[:, 1:])[:, half:].float().mean().item()


@torch.no_grad()
def prefix_matching(model: nn.Module, rows: Tensor) -> float:
    """The attention from each position of the second half to the position after the same symbol's first: the mean of
    the head that pays most."""
    half = rows.size(1) // 2
    with trace(model, ["*.weights"]) as recorded:
        model(input_ids=rows)
    at = torch.arange(half, 2 * half - 1)
    return max(recorded[name][:, :, at, at - half + 1].mean((0, 2)).max().item() for name in recorded)


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Accuracy with one layer and with two, and the prefix matching score of the best head."""
    return [
        Measurement("accuracy in the second half, two layers", [run["two"]["right"] for run in runs], at_least=0.9),
        Measurement("accuracy in the second half, one layer", [run["one"]["right"] for run in runs], at_most=0.5),
        Measurement(
            "prefix matching score of the best head, two layers", [run["two"]["matching"] for run in runs], at_least=0.5
        ),
    ]


def draw(runs: Sequence[Numbers]):
    """Left: right symbols. Right: prefix matching. A row for each number of layers, one dot per seed."""
    fig, axes = figure(2)
    labels = {"two": "two layers", "one": "one layer"}
    for axis, what, label in zip(
        axes, ("right", "matching"), ("right in the second half", "attention of the best head"), strict=True
    ):
        dots(axis, [{name: run[name][what] for name in labels} for run in runs], labels, label)
        axis.set_xlim(-0.03, 1.03)
    return fig
