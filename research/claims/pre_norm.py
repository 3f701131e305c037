"""With layer norms before the sub-layers the last layer's gradient falls with depth, and no warm-up is needed.

Measured: the gradient of the last layer's second feed-forward matrix in untrained models of 2 to 32 layers, on bytes of
Python's language reference, with Xavier initialisation, as in the paper's theory: in GPT, which is post-norm, and in
GPT-2, which is pre-norm with one more norm at the end. Theorem 1: with post-norm the size of the gradient does not fall
with the depth L, so that the first steps need a small learning rate; with pre-norm it falls as L to the power of -1/2.
The exponent is the slope of a line fitted in log-log coordinates. Bands: within 0.1 of -1/2 with pre-norm, at least
-0.1 with post-norm. (The value of warm-up in training is measured in smoothing_and_warmup.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure
from research.claims._manual import BYTES, next_byte_loss, random_pieces, train_test_bytes
from tfkit.train import initialise

CLAIM = Claim(
    title="With pre-norm the last layer's gradient falls as one over the square root of the depth; with post-norm it "
    "does not",
    paper="Xiong et al. 2020, arXiv:2002.04745, theorem 1 and figure 3",
    alt="Gradient of the last layer against the number of layers, both logarithmic: a line that does not fall with "
    "post-norm, and one that falls with pre-norm",
)
NAMES = {"after": ("gpt", "norms after (GPT)", "tab:orange"), "before": ("gpt2", "norms before (GPT-2)", "tab:blue")}


@dataclass(frozen=True)
class Size:
    depths: tuple[int, ...]
    length: int = 32
    width: int = 64
    batch: int = 16


SCALES = {
    "tiny": Size(depths=(1, 2), length=8, width=16, batch=2),
    "small": Size(depths=(2, 4, 8, 16, 32)),
    "full": Size(depths=(2, 6, 12, 24, 48, 96), length=128, width=256),
}


def make_model(norms: str, layers: int, size: Size) -> nn.Module:
    """Norms "before" (pre-norm) or "after" (post-norm), Xavier initialisation, no dropout."""
    quiet: dict[str, Any] = dict(dropout=0.0, embed_dropout=0.0, attn_dropout=0.0, max_length=size.length)
    shape = dict(vocab_size=BYTES, d_model=size.width, n_layers=layers, n_heads=4)
    return initialise(tfkit.from_config(NAMES[norms][0], "causal_lm", **shape, **quiet))


def last_gradient(model: nn.Module, rows: Tensor) -> float:
    """The norm of the gradient of the last layer's second feed-forward matrix."""
    next_byte_loss(model, rows).backward()
    last = [p.grad for name, p in model.named_parameters() if p.dim() == 2 and name.startswith("layers.")][-1]
    assert last is not None
    return last.norm().item()


def run(seed: int, size: Size) -> Numbers:
    """Gradients by depth, for pre-norm and post-norm."""
    rows = next(random_pieces(train_test_bytes()[0], size.length + 1, size.batch)(torch.Generator().manual_seed(seed)))
    torch.manual_seed(seed)
    gradients = {
        norms: [last_gradient(make_model(norms, depth, size), rows) for depth in size.depths] for norms in NAMES
    }
    return {"depths": list(size.depths), **gradients}


def exponent(depths: Sequence[int], gradients: Sequence[float]) -> float:
    """The slope of log gradient over log depth, by least squares."""
    x, y = [log(depth) for depth in depths], [log(gradient) for gradient in gradients]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covered = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return covered / sum((a - mean_x) ** 2 for a in x)


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The exponents of depth."""
    exponents = lambda norms: [exponent(run["depths"], run[norms]) for run in runs]
    return [
        Measurement("exponent of the depth in the gradient, pre-norm", exponents("before"), -0.6, -0.4),
        Measurement("the same, post-norm", exponents("after"), at_least=-0.1),
    ]


def draw(runs: Sequence[Numbers]):
    """Gradients against depth, a line for each kind of norm and seed."""
    fig, (axis,) = figure()
    for norms, (_, label, colour) in NAMES.items():
        for run in runs:
            shown = label if run is runs[0] else None
            axis.plot(run["depths"], run[norms], "o-", color=colour, alpha=0.7, label=shown)
    axis.set(xscale="log", yscale="log", xlabel="layers", ylabel="gradient of the last layer")
    axis.set_xticks(runs[0]["depths"], runs[0]["depths"])
    axis.minorticks_off()
    axis.set_yticks([0.125, 0.25, 0.5, 1.0], ["0.125", "0.25", "0.5", "1"])
    axis.legend()
    return fig
