"""Training a recurrent network takes longer as sentences grow; training self-attention hardly does, at first.

Measured: CPU seconds of a training step (forward and backward, the best of several) of the transformer and of a GRU
encoder-decoder with the same number of parameters, with 1,024 tokens in every batch: the arithmetic of a recurrent
layer is then the same at every length, and only the number of sequential steps grows. Bands: from 16 to 256 tokens the
GRU's step takes at least 3 times as long, the transformer's at most 3 times, and at 256 tokens the GRU's step takes at
least twice as long as the transformer's (trials gave 8, 1.5 and 5). At greater lengths the quadratic cost of attention
shows too: the paper's own condition is a length below the width. A single thread runs nothing in parallel, so this only
shows that many small matrix products cost more than one large one; parallel hardware widens the gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

import tfkit
from research import Claim, Measurement, Numbers, cpu_seconds, figure, lengths

CLAIM = Claim(
    title="An RNN's training time grows with the length of its sequences; self-attention's hardly does while they are "
    "short",
    paper="Vaswani et al. 2017, arXiv:1706.03762, section 4 and table 1",
    alt="CPU seconds of a training step against length, with equal tokens per batch: the GRU's line rises from the "
    "start, the transformer's is level at first and rises later",
)
NAMES = {"gru": ("GRU, 4 layers", "tab:orange"), "transformer": ("transformer, 2 layers", "tab:blue")}


@dataclass(frozen=True)
class Size:
    lengths: tuple[int, ...]
    tokens: int = 1024
    width: int = 64
    turns: int = 4


SCALES = {
    "tiny": Size(lengths=(16, 256), tokens=256, width=8, turns=1),
    "small": Size(lengths=(16, 32, 64, 128, 256, 512, 1024)),
    "full": Size(lengths=(16, 32, 64, 128, 256, 512, 1024, 2048, 4096), tokens=16384, width=512),
}


def models(size: Size) -> dict[str, torch.nn.Module]:
    """The two models, with numbers of parameters that differ by at most a tenth."""
    common = dict(head="seq2seq_lm", vocab_size=100, dropout=0.0)
    wide = dict(d_model=size.width, n_heads=4, d_ff=4 * size.width, n_layers=2, max_length=max(size.lengths))
    cells = dict(d_embed=size.width, d_hidden=size.width, n_layers=4, preset="rnnencdec")
    return {
        "gru": tfkit.from_config("rnn_seq2seq", **common, **cells),
        "transformer": tfkit.from_config("transformer", **common, **wide),
    }


def run(seed: int, size: Size) -> Numbers:
    """CPU seconds of a step of each model at each length."""
    made = models(size)
    seconds: Numbers = {name: [] for name in made}
    for length in size.lengths:
        ids = torch.randint(3, 100, (size.tokens // length, length))
        for name, model in made.items():
            step = lambda model=model, ids=ids: model(input_ids=ids, labels=ids).loss.backward()
            seconds[name].append(cpu_seconds(step, size.turns))
    return {"lengths": list(size.lengths), **seconds}


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Each model's growth from 16 to 256 tokens, and the ratio of the two at 256."""
    short, long = (runs[0]["lengths"].index(length) for length in (16, 256))
    growth = lambda name: [run[name][long] / run[name][short] for run in runs]
    gap = [run["gru"][long] / run["transformer"][long] for run in runs]
    return [
        Measurement("time of a GRU step, 256 tokens over 16", growth("gru"), at_least=3, unit="×"),
        Measurement("time of a transformer step, 256 tokens over 16", growth("transformer"), at_most=3, unit="×"),
        Measurement("time of a step at 256 tokens, GRU over transformer", gap, at_least=2, unit="×"),
    ]


def draw(runs: Sequence[Numbers]):
    """CPU seconds against length, a line for each model and seed."""
    fig, (axis,) = figure()
    for name, (label, colour) in NAMES.items():
        for run in runs:
            axis.plot(run["lengths"], run[name], ".-", color=colour, alpha=0.7, label=label if run is runs[0] else None)
    lengths(axis, runs[0]["lengths"], "CPU seconds of a training step")
    axis.legend()
    return fig
