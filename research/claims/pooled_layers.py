"""Funnel halves the sequence twice on its way up: about the same quality in less time.

Measured: Funnel with six layers in three blocks, each block with half the sequence length of the one before, and the
same six layers in one block, which is a transformer with relative positions. Both learn to tell from 64 letters of
JupyterLab's interface, in English and in French, which language they are in (accents are removed; the last third of the
strings is never seen in training). Bands: a training step takes at most 0.8 of the CPU seconds, and the accuracy is at
most 0.05 lower; without pooling it is at least 0.8, or else there would be nothing to lose.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, cpu_seconds, figure, train
from research.claims._manual import BYTES
from tfkit.data.translation import clean, read_catalogues

CLAIM = Claim(
    title="Pooling the sequence between blocks makes Funnel faster at about the same quality",
    paper="Dai et al. 2020, arXiv:2006.03236, table 1",
    alt="Accuracy against CPU seconds of a training step, one dot per seed: Funnel's dots are to the left of those "
    "without pooling, at about the same height",
    remark="On a harder task, telling six topics of Python's language reference apart, neither learned anything in "
    "200 steps.",
)
NAMES = {"flat": ("six layers, no pooling", "tab:orange"), "funnel": ("Funnel, 2 + 2 + 2 layers", "tab:blue")}
BLOCKS = {"flat": (6,), "funnel": (2, 2, 2)}
START = BYTES


@dataclass(frozen=True)
class Size:
    steps: int
    length: int = 64
    width: int = 32
    batch: int = 16
    n_test: int = 400
    peak: float = 3e-3


SCALES = {
    "tiny": Size(steps=2, length=8, width=16, batch=2, n_test=4),
    "small": Size(steps=150),
    "full": Size(steps=5000, length=256, width=256, batch=64, n_test=2000, peak=3e-4),
}


def languages() -> list[Tensor]:
    """English and French strings, one after the other, as bytes: int64 [N] each."""
    pairs = clean(read_catalogues())
    texts = (" ".join(getattr(pair, side) for pair in pairs).lower() for side in ("source", "target"))
    return [torch.tensor(list(text.encode("ascii", "ignore"))) for text in texts]


def draw_pieces(parts: Sequence[Tensor], size: Size, count: int, generator: torch.Generator) -> dict[str, Tensor]:
    """`count` pieces, equally many from each text, and the number of the text."""
    labels = torch.arange(count) % len(parts)
    starts = torch.rand(count, generator=generator).tolist()
    rows = []
    for label, offset in zip(labels.tolist(), starts, strict=True):
        start = int(offset * (len(parts[label]) - size.length))
        rows.append(parts[label][start : start + size.length - 1])
    return {"input_ids": nn.functional.pad(torch.stack(rows), (1, 0), value=START), "labels": labels}


def model(size: Size, blocks: tuple[int, ...]) -> nn.Module:
    """`blocks`: number of layers in each block; the sequence is halved between blocks, so a single block pools
    nothing."""
    fields: dict[str, Any] = dict(
        vocab_size=BYTES + 1, d_model=size.width, n_heads=4, d_head=size.width // 4, d_ff=4 * size.width
    )
    fields |= dict(dropout=0.0, attn_dropout=0.0, block_sizes=blocks)
    return tfkit.from_config("funnel", head="sequence_classification", **fields)


def run(seed: int, size: Size) -> Numbers:
    """Accuracy and seconds, with and without pooling."""
    texts = languages()
    learned, held = [text[: len(text) * 2 // 3] for text in texts], [text[len(text) * 2 // 3 :] for text in texts]
    question = draw_pieces(held, size, size.n_test, torch.Generator().manual_seed(10_000))

    def batches(generator):
        """Endless batches from the first two thirds of each text."""
        while True:
            yield draw_pieces(learned, size, size.batch, generator)

    numbers: Numbers = {}
    for name, blocks in BLOCKS.items():
        torch.manual_seed(seed)
        one = model(size, blocks)
        train(one, batches, size.steps, size.peak, seed)
        batch = draw_pieces(learned, size, size.batch, torch.Generator())
        step = lambda one=one, batch=batch: one(**batch).loss.backward()
        numbers[name] = {"seconds": cpu_seconds(step, 5), "right": accuracy(one, question)}
    return numbers


@torch.no_grad()
def accuracy(model: nn.Module, question: dict[str, Tensor]) -> float:
    """The share of pieces whose language is recognised; leaves the model in eval mode."""
    predicted = model.eval()(input_ids=question["input_ids"]).logits.argmax(-1)
    return (predicted == question["labels"]).float().mean().item()


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The time of a step and the accuracy, compared with no pooling; and that without pooling the task is learned."""
    return [
        Measurement("CPU seconds of a training step, Funnel over no pooling",
                [run["funnel"]["seconds"] / run["flat"]["seconds"] for run in runs], at_most=0.8, unit="×"),
        Measurement("accuracy, Funnel minus no pooling",
                [run["funnel"]["right"] - run["flat"]["right"] for run in runs], at_least=-0.05),
        Measurement("accuracy, no pooling",
                [run["flat"]["right"] for run in runs], at_least=0.8),
    ]  # fmt: skip


def draw(runs: Sequence[Numbers]):
    """Accuracy against CPU seconds of a step, a dot for each model and seed."""
    fig, (axis,) = figure()
    for name, (label, colour) in NAMES.items():
        seconds, rights = ([run[name][what] for run in runs] for what in ("seconds", "right"))
        axis.plot(seconds, rights, "o", color=colour, label=label, alpha=0.8)
    axis.set(xlabel="CPU seconds of a training step", ylabel="share of right answers", ylim=(0, 1))
    axis.set_xlim(left=0)
    axis.legend()
    return fig
