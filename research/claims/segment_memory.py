"""Transformer-XL continues where the last segment ended; without its memory the same model starts anew each time.

Measured: two models that differ only in mem_len, with the same number of parameters, are trained alike on the bytes of
Python's language reference, segment after segment of 16, and tested on unseen topics: bits per byte overall, and by the
position in the segment. Without memory the first bytes of a segment have no context and are predicted worst; with it
every position is as good as the last. Bands: memory gains at least 0.1 bits, and most of it in the first half of the
segment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._manual import BYTES, train_test_bytes

CLAIM = Claim(
    title="Transformer-XL's memory of earlier segments makes the same model a better one",
    paper="Dai et al. 2019, arXiv:1901.02860, section 3.2 and table 6",
    alt="Bits per byte against the position in a segment: without memory the line starts high and falls, with memory "
    "it is level and below",
    remark="It was first run with 400 steps: memory gained 0.094 bits (0.061 to 0.115), so that not every seed was in "
    "its band. Such a model makes little use of what is further back than a few bytes, and memory helps only at the "
    "start of a segment. With 1,000 steps and the same bands it gains 0.129 (0.087 to 0.211), and still not enough in "
    "every seed.",
)
NAMES = {"without": ("without memory", "tab:orange"), "memory": ("with memory", "tab:blue")}


@dataclass(frozen=True)
class Size:
    steps: int
    segment: int = 16
    memory: int = 48
    width: int = 48
    batch: int = 32
    n_test: int = 48  # segments, one after the other, in each row of the test
    peak: float = 4e-3


SCALES = {
    "tiny": Size(steps=2, segment=4, memory=8, width=16, batch=2, n_test=4),
    "small": Size(steps=1000),
    "full": Size(steps=20000, segment=128, memory=512, width=256, batch=32, n_test=64, peak=5e-4),
}


def model(size: Size, memory: int) -> nn.Module:
    """`memory`: number of remembered positions, 0 for none; it does not change the number of parameters."""
    fields = dict(vocab_size=BYTES, cutoffs=(), div_val=1, d_model=size.width, d_embed=size.width, n_layers=2)
    fields |= dict(n_heads=4, d_head=size.width // 4, d_ff=4 * size.width, clamp_len=0, dropout=0.0)
    return tfkit.from_config("transformer_xl", head="causal_lm", mem_len=memory, same_length=False, **fields)


def losses(model: nn.Module, segment: Tensor, mems) -> tuple[Tensor, tuple | None]:
    """segment [B,1+L] -> nats of its last L bytes [B,L], and the memory of its first L"""
    out = model(input_ids=segment[:, :-1], mems=mems)
    return nn.functional.cross_entropy(out.logits.transpose(1, 2), segment[:, 1:], reduction="none"), out.get("mems")


class SegmentReader:
    """A loss with memory: each batch continues where the last one ended."""

    def __init__(self) -> None:
        self.mems: tuple | None = None

    def __call__(self, model: nn.Module, segment: Tensor) -> Tensor:
        loss, self.mems = losses(model, segment, self.mems)
        return loss.mean()


def segments(text: Tensor, size: Size, generator: torch.Generator):
    """Endless batches [B,1+L] that follow each other in every row, from `batch` positions in the text, which is treated
    as a ring."""
    at = torch.randint(len(text), (size.batch, 1), generator=generator)
    while True:
        yield text[(at + torch.arange(size.segment + 1)) % len(text)]
        at = at + size.segment


@torch.no_grad()
def bits(model: nn.Module, text: Tensor, size: Size) -> list[float]:
    """Bits per byte at each position of a segment."""
    mems, found = None, []
    stream = segments(text, size, torch.Generator().manual_seed(10_000))
    for _ in range(size.n_test):
        loss, mems = losses(model.eval(), next(stream), mems)
        found.append(loss.mean(0))
    return (torch.stack(found[len(found) // 4 :]).mean(0) / log(2)).tolist()  # after the memory has filled


def run(seed: int, size: Size) -> Numbers:
    """Bits per byte at each position, with and without memory."""
    learned, held = train_test_bytes()
    numbers: Numbers = {}
    for name, length in (("without", 0), ("memory", size.memory)):
        torch.manual_seed(seed)
        one = model(size, length)
        train(
            one, lambda generator: segments(learned, size, generator), size.steps, size.peak, seed, loss=SegmentReader()
        )
        numbers[name] = bits(one, held, size)
    return numbers


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The gain from memory in bits, and how much larger it is in the first half of a segment."""
    mean = lambda x_positions: sum(x_positions) / len(x_positions)
    gains = [[a - b for a, b in zip(run["without"], run["memory"], strict=True)] for run in runs]
    half = len(gains[0]) // 2
    halves = [mean(gain[:half]) - mean(gain[half:]) for gain in gains]
    return [
        Measurement("gain from memory, bits per byte", [mean(gain) for gain in gains], at_least=0.1),
        Measurement("the gain, first half of a segment minus second half", halves, at_least=0),
    ]


def draw(runs: Sequence[Numbers]):
    """Bits per byte against the position in a segment, a line for each model and seed."""
    fig, (axis,) = figure()
    for name, (label, colour) in NAMES.items():
        for run in runs:
            x_positions = range(1, len(run[name]) + 1)
            axis.plot(x_positions, run[name], ".-", color=colour, alpha=0.7, label=label if run is runs[0] else None)
    axis.set(xlabel="position in the segment", ylabel="bits per byte, unseen text")
    axis.legend()
    return fig
