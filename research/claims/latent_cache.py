"""Keys and values are cached as one narrow latent: a smaller cache than with grouped queries, at full quality.

Measured: DeepSeek's attention (without experts, in the paper's proportions: a latent as wide as four heads, a rotary
key as wide as half a head) and Llama's with a key-value head for each of 8 query heads, trained alike on the bytes of
Python's language reference. The scores are the numbers cached per token and layer, as the models really store them: by
the paper's count 4.5 times the width of a head, as much as 2.25 key-value heads would need, against 16 for full heads;
and nats per byte of unseen topics. Bands: the paper's counts, at most 0.02 nats above full heads (the paper's model is
below them), and at most a hundredth more parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._manual import BYTES, held_out_nats, next_byte_loss, random_pieces, train_test_bytes
from research.claims.grouped_queries import cache_bytes

CLAIM = Claim(
    title="Latent attention caches as little as 2.25 key-value heads, and is as good as a key-value head per query "
    "head",
    paper="DeepSeek-AI 2024, arXiv:2405.04434, table 1 and appendix D.2",
    alt="Left: numbers cached per token, in widths of a head: 16 for full heads, 4.5 for the latent. Right: nats per "
    "byte of unseen text, one dot per seed, which are lower for full heads",
    remark="Run once: the counts are the paper's, but the latent costs 0.28 nats (0.239 to 0.346). Whether it only "
    "learns more slowly at such a width or stays above was not tried: 300 steps are an early point of both curves.",
)
NAMES = {"full": "a key head for each (Llama)", "latent": "a latent (DeepSeek)"}


@dataclass(frozen=True)
class Size:
    steps: int
    length: int = 32
    width: int = 48
    d_head: int = 12
    batch: int = 24
    peak: float = 4e-3


SCALES = {
    "tiny": Size(steps=1, length=8, width=16, d_head=4, batch=2),
    "small": Size(steps=300),
    "full": Size(steps=20000, length=512, width=512, d_head=64, batch=32, peak=5e-4),
}


def models(size: Size) -> dict[str, nn.Module]:
    """Two layers of 8 heads each; Llama's feed-forward network is as much wider as makes their parameters equal."""
    common: dict[str, Any] = dict(head="causal_lm", vocab_size=BYTES, d_model=size.width, n_layers=2, n_heads=8)
    head, d_ff = size.d_head, 2 * size.width
    kept: dict[str, Any] = dict(n_dense=2, d_query_latent=None, d_latent=4 * head, d_rotary=head // 2)
    latent = tfkit.from_config("deepseek_v3", d_content=head, d_value=head, d_ff=d_ff, **kept, **common)
    full = lambda d_ff: tfkit.from_config("llama", d_head=head, d_ff=d_ff, **common)
    more = (parameters(latent) - parameters(full(d_ff))) // (2 * 3 * size.width)  # columns: three matrices a layer
    return {"full": full(d_ff + more), "latent": latent}


def parameters(model: nn.Module) -> int:
    """The number of parameters."""
    return sum(p.numel() for p in model.parameters())


def run(seed: int, size: Size) -> Numbers:
    """Numbers kept for a token and layer, in widths of a head, nats per byte, and parameters, by the attention."""
    numbers: Numbers = {}
    batches = random_pieces(train_test_bytes()[0], size.length + 1, size.batch)
    torch.manual_seed(seed)
    for name, model in models(size).items():
        train(model, batches, size.steps, size.peak, seed, loss=next_byte_loss)
        nats = held_out_nats(model, size.length)
        kept = cache_bytes(model, size.length) / (4 * size.length * 2 * size.d_head)  # 4 bytes each, two layers
        numbers[name] = {"nats": sum(nats) / len(nats), "kept": kept, "parameters": parameters(model)}
    return numbers


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The sizes of the two caches, the cost of the latent, and the ratio of parameters."""
    kept = lambda name: [run[name]["kept"] for run in runs]
    return [
        Measurement("cached per token and layer by a latent, in widths of a head", kept("latent"), 4.49, 4.51),
        Measurement("cached by 8 key-value heads", kept("full"), 15.9, 16.1),
        Measurement("nats per byte, latent minus full heads",
                [run["latent"]["nats"] - run["full"]["nats"] for run in runs], at_most=0.02),
        Measurement("parameters, latent over full heads",
                [run["latent"]["parameters"] / run["full"]["parameters"] for run in runs], at_most=1.01, unit="×"),
    ]  # fmt: skip


def draw(runs: Sequence[Numbers]):
    """Left: the numbers cached per token. Right: nats per byte. A row for each kind of attention, one dot per seed."""
    fig, axes = figure(2)
    labels = ("kept for a token, in widths of a head", "nats per byte, unseen text")
    for axis, what, label in zip(axes, ("kept", "nats"), labels, strict=True):
        dots(axis, [{name: run[name][what] for name in NAMES} for run in runs], NAMES, label)
    axes[0].set_xlim(left=0)
    return fig
