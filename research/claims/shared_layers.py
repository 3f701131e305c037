"""ALBERT shares one layer's weights among all layers and factorises the embeddings: far fewer parameters.

Measured: the parameters of the published sizes, base and large (in the paper 108 million against 12, and 334 against
18); and what sharing costs: BERT and ALBERT of the same width and depth are trained alike as masked language models, on
the bytes of Python's language reference, and tested on unseen topics. Bands: base has at least 8 times fewer
parameters, large at least 17 times, as in table 1 of the paper; the small ALBERT has less than half of the small BERT's
parameters, and its loss is at most 10% higher (in the paper sharing costs 1.5 to 2.5 points of accuracy, table 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

import tfkit
from research import Claim, Measurement, Numbers, cpu_seconds, figure, train
from research.claims._manual import BYTES, MASK, random_pieces, train_test_bytes
from tfkit.hub.loading import shapes_only
from tfkit.objectives.masked_lm import MaskedLM

CLAIM = Claim(
    title="ALBERT has a small share of BERT's parameters and loses little quality by it",
    paper="Lan et al. 2019, arXiv:1909.11942, tables 1 and 4",
    alt="Left, bars: parameters of BERT and ALBERT, base and large. Right, dots: the small models' loss on unseen text",
    remark="Sharing saves memory, not arithmetic: a training step of the small ALBERT takes as long as one of BERT.",
)
PUBLISHED = {"base": ("bert-base-uncased", "albert-base-v2"), "large": ("bert-large-uncased", "albert-large-v2")}


@dataclass(frozen=True)
class Size:
    steps: int
    width: int = 64
    layers: int = 4
    length: int = 64
    batch: int = 16
    peak: float = 3e-3


SCALES = {
    "tiny": Size(steps=2, width=16, layers=2, length=16, batch=2),
    "small": Size(steps=300),
    "full": Size(steps=10000, width=256, layers=6, length=256, batch=32, peak=1e-3),
}


def count(model: nn.Module) -> int:
    """The number of parameters, with shared ones counted once."""
    return sum(weight.numel() for weight in model.parameters())


def published_parameters(name: str) -> int:
    """Parameters of a published model without heads; no memory is taken for them."""
    with shapes_only():
        return count(tfkit.from_config(name))


def models(size: Size) -> dict[str, nn.Module]:
    """BERT and ALBERT of the same width and depth; ALBERT's embeddings are half as wide."""
    fields: dict[str, Any] = dict(
        vocab_size=BYTES + 1, d_model=size.width, n_layers=size.layers, n_heads=4, d_ff=4 * size.width
    )
    fields |= dict(max_length=size.length, dropout=0.0, attn_dropout=0.0, activation="gelu", head="masked_lm")
    return {
        "bert": tfkit.from_config("bert", **fields),
        "albert": tfkit.from_config("albert", d_embed=size.width // 2, **fields),
    }


def run(seed: int, size: Size) -> Numbers:
    """Parameters of the published sizes; parameters, held-out loss and CPU seconds of a step of the small models."""
    learned, held = train_test_bytes()
    objective = MaskedLM(MASK, BYTES)

    def batches(generator):
        """Endless, masked afresh each time."""
        for ids in random_pieces(learned, size.length, size.batch)(generator):
            yield objective({"input_ids": ids}, generator)

    test_generator = torch.Generator().manual_seed(10_000)  # the same test batches for all
    test_batch = objective(
        {"input_ids": next(random_pieces(held, size.length, 16 * size.batch)(test_generator))}, test_generator
    )
    numbers: Numbers = {
        "published": {at: [published_parameters(name) for name in names] for at, names in PUBLISHED.items()}
    }
    for name, model in models(size).items():
        train(model, batches, size.steps, size.peak, seed)
        batch = next(batches(test_generator))
        step = lambda model=model, batch=batch: model(**batch).loss.backward()
        with torch.no_grad():
            loss = model.eval()(**test_batch).loss.item()
        numbers[name] = {"parameters": count(model), "loss": loss, "seconds": cpu_seconds(step, 3)}
    return numbers


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Parameters at published sizes, which no seed changes; then parameters and loss of the small models."""
    sizes = runs[0]["published"]
    fewer = lambda at: [sizes[at][0] / sizes[at][1]]  # no seed changes it
    ratio = lambda what: [run["albert"][what] / run["bert"][what] for run in runs]
    return [
        Measurement("parameters, BERT over ALBERT, base", fewer("base"), at_least=8, unit="×"),
        Measurement("parameters, BERT over ALBERT, large", fewer("large"), at_least=17, unit="×"),
        Measurement("the small models: parameters, ALBERT over BERT", ratio("parameters"), at_most=0.5, unit="×"),
        Measurement("the small models: loss, ALBERT over BERT", ratio("loss"), at_most=1.1, unit="×"),
    ]


def draw(runs: Sequence[Numbers]):
    """Left: bars of published sizes. Right: the small models' loss on unseen text, one dot per seed."""
    fig, (left, right) = figure(2)
    for i, (name, colour) in enumerate((("BERT", "tab:orange"), ("ALBERT", "tab:blue"))):
        counts = [runs[0]["published"][at][i] / 1e6 for at in PUBLISHED]
        bars = left.bar([i / 3 - 1 / 6, i / 3 + 5 / 6], counts, 0.3, color=colour, label=name)
        left.bar_label(bars, fmt="%.0f")
        right.plot([i] * len(runs), [run[name.lower()]["loss"] for run in runs], "o", color=colour, alpha=0.7)
    left.set(xticks=[0, 1], xticklabels=PUBLISHED, ylabel="million parameters")
    left.legend()
    right.set(xticks=[0, 1], xticklabels=["BERT", "ALBERT"], xlim=(-0.5, 1.5), ylabel="small models' loss, unseen text")
    return fig
