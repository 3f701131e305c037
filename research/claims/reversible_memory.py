"""The memory of reversible layers does not grow with their number, and their gradients are the same.

Measured: the peak bytes of tensors in a training step (forward and backward, besides the weights and their gradients)
through 2 to 32 reversible blocks of two feed-forward parts each, whose inputs are recomputed from their outputs in the
backward pass; and through the same blocks with autograd's stored activations. Also the largest difference between the
gradients of the two, relative to the largest gradient. Bands: sixteen times the blocks take at most 1.5 times the
memory, and at least 6 times if everything is stored; gradients differ by at most a thousandth of the largest, since the
recomputed inputs are rounded. What still grows is the gradients of the weights, which are returned all at once: with
few tokens (256, at width 64) they are most of the memory, which then grew to five times.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from research import Claim, Measurement, Numbers, figure
from tfkit.nn import FeedForward
from tfkit.nn.reversible import ReversibleBlock, reversible
from tfkit.tools.memory import peak_bytes

CLAIM = Claim(
    title="The memory of reversible layers does not grow with their number",
    paper="Gomez et al. 2017, arXiv:1707.04585, table 1; Kitaev et al. 2020, arXiv:2001.04451, section 3",
    alt="Memory of a training step against the number of blocks: a level line if inputs are recomputed, a line that "
    "rises with the number if they are stored",
)
WAYS = {"kept": ("everything is kept", "tab:red"), "again": ("computed again", "tab:blue")}


@dataclass(frozen=True)
class Size:
    blocks: tuple[int, ...]
    width: int = 32
    length: int = 4096


SCALES = {
    "tiny": Size(blocks=(2, 32), width=8, length=16),
    "small": Size(blocks=(2, 4, 8, 16, 32)),
    "full": Size(blocks=(2, 4, 8, 16, 32), width=256, length=32_768),
}


def run(seed: int, size: Size) -> Numbers:
    """Bytes by number of blocks in both ways, and the largest difference of a gradient over the largest gradient."""
    numbers: Numbers = {"blocks": list(size.blocks), "kept": [], "again": [], "apart": 0.0}
    for count in size.blocks:
        parts = [[FeedForward(size.width, 4 * size.width) for _ in range(2)] for _ in range(count)]
        blocks = nn.ModuleList(ReversibleBlock(f, g) for f, g in parts)
        x = torch.randn(2, 1, size.length, size.width)
        gradients = {}
        for name, through in (("kept", keep), ("again", reversible)):
            step = training_step(blocks, through, x)
            step()
            blocks.zero_grad(set_to_none=False)  # allocated now, so that gradients are counted in neither way
            numbers[name].append(peak_bytes(step))
            gradients[name] = torch.cat([p.grad.flatten() for p in blocks.parameters() if p.grad is not None])
        apart = (gradients["kept"] - gradients["again"]).abs().max() / gradients["kept"].abs().max()
        numbers["apart"] = max(numbers["apart"], apart.item())
    return numbers


def keep(blocks: nn.ModuleList, x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Runs the blocks with autograd's own storage of activations."""
    for block in blocks:
        x1, x2 = block(x1, x2)
    return x1, x2


def training_step(blocks: nn.ModuleList, through: Callable, x: Tensor) -> Callable[[], None]:
    """x [2,1,L,E]: both halves -> a call that runs forward and backward once."""

    def step() -> None:
        y1, y2 = through(blocks, x[0], x[1])
        (y1 * y2).mean().backward()

    return step


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Growth from the fewest blocks to the most, in both ways; and the gradients."""
    counts = runs[0]["blocks"]
    ratio = f"{counts[-1]} blocks over {counts[0]}"
    growth = lambda name: [run[name][-1] / run[name][0] for run in runs]
    return [
        Measurement(f"memory, recomputed, {ratio}", growth("again"), at_most=1.5, unit="×"),
        Measurement(f"memory, everything stored, {ratio}", growth("kept"), at_least=6, unit="×"),
        Measurement(
            "largest difference of gradients, relative to the largest gradient",
            [run["apart"] for run in runs],
            at_most=1e-3,
        ),
    ]


def draw(runs: Sequence[Numbers]):
    """MiB of a training step against the number of blocks, a line for each seed."""
    fig, (axis,) = figure()
    for name, (title, colour) in WAYS.items():
        for run in runs:
            values = [value / 2**20 for value in run[name]]
            axis.plot(run["blocks"], values, ".-", color=colour, alpha=0.7, label=title if run is runs[0] else None)
    axis.set(xlabel="blocks", ylabel="MiB of a training step")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize="small")
    return fig
