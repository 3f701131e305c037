"""Longformer's and BigBird's time and memory grow linearly with the length of the text, not with its square.

Measured: CPU seconds of a forward pass, and the peak bytes of tensors in a training step, of one layer each of BERT,
Longformer (window 64) and BigBird (blocks of 16) at equal width. BERT's attention is computed as in the textbook, all
scores at once; a fused kernel, which PyTorch uses if it can, makes BERT's memory linear too, but not its time, and is
drawn beside it. Bands: four times the length takes Longformer and BigBird at most 6 times the seconds and 5 times the
memory; textbook attention takes at least 9 times the memory (the limit for a square is 16; everything other than
attention grows linearly).
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import tfkit
from research import Claim, Measurement, Numbers, cpu_seconds, figure, lengths
from tfkit.tools.memory import peak_bytes

CLAIM = Claim(
    title="Longformer's and BigBird's time and memory are linear in the length of the text",
    paper="Beltagy et al. 2020, arXiv:2004.05150, figure 1; Zaheer et al. 2020, arXiv:2007.14062",
    alt="Memory and seconds against length: the lines of Longformer and BigBird rise linearly, BERT's with the "
    "square; with a fused kernel BERT's memory is close to theirs, and its seconds are not",
)
NAMES = {
    "textbook": ("BERT, all scores at once", "tab:red"),
    "fused": ("BERT, fused kernel", "tab:orange"),
    "longformer": ("Longformer", "tab:green"),
    "bigbird": ("BigBird", "tab:blue"),
}


@dataclass(frozen=True)
class Size:
    lengths: tuple[int, ...]
    width: int = 64
    heads: int = 4
    window: int = 64
    block: int = 16
    turns: int = 3


SCALES = {
    "tiny": Size(lengths=(64, 256), width=16, heads=2, window=8, block=4, turns=1),
    "small": Size(lengths=(256, 512, 1024, 2048)),
    "full": Size(lengths=(512, 1024, 2048, 4096, 8192), width=256, window=256, block=64),
}


def models(size: Size) -> dict[str, nn.Module]:
    """ "textbook" and "fused" are one and the same BERT: the kernel is chosen where it runs."""
    fields: dict[str, Any] = dict(vocab_size=100, d_model=size.width, n_layers=1, n_heads=size.heads)
    fields |= dict(d_ff=4 * size.width, max_length=max(size.lengths) + 2, dropout=0.0, attn_dropout=0.0)
    bert = tfkit.from_config("bert", **fields)
    return {
        "textbook": bert,
        "fused": bert,
        "longformer": tfkit.from_config("longformer", window=size.window, **fields),
        "bigbird": tfkit.from_config("bigbird", block=size.block, **fields),
    }


def run(seed: int, size: Size) -> Numbers:
    """Seconds and bytes of each model at each length."""
    numbers: Numbers = {"lengths": list(size.lengths)}
    for name, model in models(size).items():
        with sdpa_kernel(SDPBackend.MATH) if name == "textbook" else nullcontext():
            seconds, memory = zip(*(cost(model, length, size.turns) for length in size.lengths), strict=True)
        numbers[name] = {"seconds": list(seconds), "bytes": list(memory)}
    return numbers


def cost(model: nn.Module, length: int, turns: int) -> tuple[float, int]:
    """CPU seconds forward, peak bytes forward and backward."""
    ids = torch.randint(5, 100, (1, length))
    forward = torch.no_grad()(lambda: model(input_ids=ids))
    step: Callable[[], Any] = lambda: model(input_ids=ids).last_hidden_state.sum().backward()
    model.zero_grad(set_to_none=False)
    return cpu_seconds(forward, turns), peak_bytes(step)


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Growth from a quarter of the longest text to the longest: twice for each sparse model, and BERT's memory."""
    counts = runs[0]["lengths"]
    far, near = len(counts) - 1, counts.index(counts[-1] // 4)
    ratio = f"{counts[far]:,} tokens over {counts[near]:,}"
    growth = lambda name, what: [run[name][what][far] / run[name][what][near] for run in runs]
    found = []
    for name in ("longformer", "bigbird"):
        found += [
            Measurement(f"{NAMES[name][0]}'s seconds, {ratio}", growth(name, "seconds"), at_most=6, unit="×"),
            Measurement(f"{NAMES[name][0]}'s memory, {ratio}", growth(name, "bytes"), at_most=5, unit="×"),
        ]
    return [
        *found,
        Measurement(f"memory of {NAMES['textbook'][0]}, {ratio}", growth("textbook", "bytes"), at_least=9, unit="×"),
    ]


def draw(runs: Sequence[Numbers]):
    """Left: MiB of a training step. Right: CPU seconds forward. Both against length, a line for each seed."""
    fig, axes = figure(2)
    for axis, what, unit, label in zip(axes, ("bytes", "seconds"), (2**20, 1), ("MiB of a training step",
                                       "CPU seconds, forward"), strict=True):  # fmt: skip
        for name, (title, colour) in NAMES.items():
            for run in runs:
                values = [value / unit for value in run[name][what]]
                axis.plot(
                    run["lengths"], values, ".-", color=colour, alpha=0.7, label=title if run is runs[0] else None
                )
        lengths(axis, runs[0]["lengths"], label)
    axes[0].legend(fontsize="small")
    return fig
