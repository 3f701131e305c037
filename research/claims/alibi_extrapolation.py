"""Trained on short texts and tested on longer ones: attention with linear biases extrapolates, sinusoids do not.

Measured: three decoders of the same width and depth are trained alike on 32-byte pieces of Python's language reference
and tested on unseen pieces of 128 bytes. They differ in their position encoding: Bloom has linear biases (ALiBi),
GPT-NeoX rotary embeddings, and Pegasus' decoder sinusoids that are added to the embeddings. The cost of length is the
loss, in nats per byte, in the last quarter of the long piece minus that in the last quarter of its first 32 bytes, a
length seen in training. Bands: length costs ALiBi at most 0.05 nats, and sinusoids at least 0.3 (a trial with another
seed gave -0.01 and 0.50).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._manual import BYTES, held_out_nats, next_byte_loss, random_pieces, train_test_bytes

CLAIM = Claim(
    title="With ALiBi a model reads texts longer than those it was trained on; with sinusoids it does not",
    paper="Press et al. 2022, arXiv:2108.12409, figure 1",
    alt="Nats per byte against the position in a text: all three lines are level up to the training length; beyond it "
    "ALiBi's stays level, that of sinusoids rises at once and that of rotary embeddings later",
    remark="It was first run with 250 steps: sinusoids cost 0.39 nats (0.267 to 0.49), so that one seed missed its "
    "band, and ALiBi cost 0.002 (-0.002 to 0.008). It was then run with 400 steps and the same bands.",
)
NAMES = {"sinusoids": ("sinusoids (Pegasus)", "tab:orange"), "rotation": ("rotation (GPT-NeoX)", "tab:green"),
         "alibi": ("ALiBi (Bloom)", "tab:blue")}  # fmt: skip


@dataclass(frozen=True)
class Size:
    steps: int
    length: int = 32
    longer: int = 4  # times the length
    width: int = 48
    batch: int = 32
    peak: float = 4e-3


SCALES = {
    "tiny": Size(steps=1, length=8, width=16, batch=2),
    "small": Size(steps=400),
    "full": Size(steps=20000, length=512, width=256, batch=32, peak=5e-4),
}


def models(size: Size) -> dict[str, nn.Module]:
    """Two layers each, with tied embeddings and without dropout."""
    common: dict[str, Any] = dict(head="causal_lm", vocab_size=BYTES, d_model=size.width, dropout=0.0)
    decoder: dict[str, Any] = dict(n_layers=2, n_heads=4, tie_word_embeddings=True)
    wide = dict(n_decoder_layers=2, n_decoder_heads=4, d_decoder_ff=4 * size.width)
    rotated: dict[str, Any] = dict(d_ff=4 * size.width, parallel=False, rotary_fraction=1.0)
    return {
        "sinusoids": tfkit.from_config("pegasus", max_length=size.longer * size.length, **wide, **common),
        "rotation": tfkit.from_config("gpt_neox", **rotated, **decoder, **common),
        "alibi": tfkit.from_config("bloom", **decoder, **common),
    }  # fmt: skip


def run(seed: int, size: Size) -> Numbers:
    """Nats at each position of a long text, by position encoding."""
    numbers: Numbers = {"length": size.length}
    batches = random_pieces(train_test_bytes()[0], size.length + 1, size.batch)
    torch.manual_seed(seed)
    for name, model in models(size).items():
        train(model, batches, size.steps, size.peak, seed, loss=next_byte_loss)
        numbers[name] = held_out_nats(model, size.longer * size.length)
    return numbers


def mean(values: Sequence[float]) -> float:
    """The mean of some positions."""
    return sum(values) / len(values)


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The nats that length costs, by position encoding."""

    def cost(name: str) -> list[float]:
        """The last quarter of the text minus the last quarter of the training length."""
        return [
            mean(run[name][-len(run[name]) // 4 :]) - mean(run[name][run["length"] * 3 // 4 : run["length"]])
            for run in runs
        ]

    return [
        Measurement("cost of four times the length with ALiBi, nats per byte", cost("alibi"), at_most=0.05),
        Measurement("the same with sinusoids", cost("sinusoids"), at_least=0.3),
    ]


def draw(runs: Sequence[Numbers]):
    """Nats against the position in the text, a line for each model and seed."""
    fig, (axis,) = figure()
    for name, (label, colour) in NAMES.items():
        for run in runs:
            smooth = [mean(run[name][i : i + 8]) for i in range(0, len(run[name]), 8)]
            x_positions = [8 * i + 4 for i in range(len(smooth))]
            axis.plot(x_positions, smooth, ".-", color=colour, alpha=0.7, label=label if run is runs[0] else None)
    axis.axvline(runs[0]["length"], color="gray", ls="--", label="length of training")
    axis.set(xlabel="position in the text", ylabel="nats per byte, unseen text")
    axis.legend(fontsize="small", loc="lower right")
    axis.set_ylim(bottom=0)
    return fig
