"""Two techniques of the 2017 transformer: label smoothing, and a learning rate with warm-up.

Measured: sequences of words are translated by a noisy dictionary (each word has one right translation, used four times
in five, and otherwise gets a random word) and reversed. (1) The transformer is trained with smoothing 0.1 and without;
on new sequences: nats per word of the noisy targets, and the share of words that are the right translation. The paper:
smoothing "hurts perplexity, as the model learns to be more unsure, but improves accuracy". (2) A deeper transformer
(post-norm, as in 2017) is trained at a high peak learning rate, with and without the warm-up that leads to it: the mean
loss over the last tenth of training. Bands: smoothing costs nats, however few, and at most 0.005 of the words (0.02 at
first, which could hardly fail: the seeds lie within 0.002); without warm-up the final loss is at least 0.1 nats higher.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from tfkit.train import linear_rate

CLAIM = Claim(
    title="Label smoothing hurts perplexity but not accuracy; without warm-up a deep transformer trains worse",
    paper="Vaswani et al. 2017, arXiv:1706.03762, sections 5.3 and 5.4",
    alt="Left, dots: nats per word with and without smoothing. Right, lines: training loss with and without warm-up",
)
FIRST = 3  # ids below: padding, start, end


@dataclass(frozen=True)
class Size:
    steps: int
    deep_steps: int
    layers: int = 1
    deep: int = 6
    words: int = 20
    length: int = 6
    width: int = 32
    batch: int = 32
    peak: float = 5e-3
    deep_peak: float = 1e-2


SCALES = {
    "tiny": Size(steps=2, deep_steps=10, deep=2, width=16, batch=4),
    "small": Size(steps=300, deep_steps=150),
    "full": Size(
        steps=10000, deep_steps=5000, layers=3, deep=12, words=1000, length=20, width=256, peak=5e-4, deep_peak=1e-3
    ),
}


def model(size: Size, layers: int, smoothing: float = 0.0) -> nn.Module:
    """The 2017 transformer with norms after the additions; smoothing is part of its loss."""
    fields: dict[str, Any] = dict(
        vocab_size=FIRST + size.words, d_model=size.width, n_layers=layers, n_heads=4, d_ff=4 * size.width
    )
    fields |= dict(dropout=0.0, label_smoothing=smoothing, max_length=2 * size.length)
    return tfkit.from_config("transformer", head="seq2seq_lm", **fields)


def examples(size: Size, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Sources [N,L], their noisy translations [N,L] and the right ones [N,L]."""
    draw = lambda: torch.randint(FIRST, FIRST + size.words, (count, size.length), generator=generator)
    source, noise = draw(), draw()
    right = (FIRST + (source - FIRST + 7) % size.words).flip(1)
    is_noisy = torch.rand(source.shape, generator=generator) < 0.2
    return source, noise.where(is_noisy, right), right


def batches(size: Size):
    """Endless: input_ids and noisy labels [B,L], as a function of a generator."""

    def endless(generator):
        """Without the right translations, which are not used in training."""
        while True:
            source, target, _ = examples(size, size.batch, generator)
            yield {"input_ids": source, "labels": target}

    return endless


def run(seed: int, size: Size) -> Numbers:
    """ "plain" and "smoothed": nats and words right. "warmed" and "cold": the training loss at each step."""
    numbers: Numbers = {}
    for name, smoothing in (("plain", 0.0), ("smoothed", 0.1)):
        torch.manual_seed(seed)
        one = model(size, size.layers, smoothing)
        train(one, batches(size), size.steps, size.peak, seed)
        numbers[name] = evaluate_noisy_words(one, size)
    for name, warmup in (("warmed", size.deep_steps // 3), ("cold", 0)):
        torch.manual_seed(seed)
        rate = lambda step, warmup=warmup: linear_rate(step, size.deep_peak, warmup, size.deep_steps + 1)
        one = model(size, size.deep)
        numbers[name] = train(one, batches(size), size.deep_steps, size.deep_peak, seed, rate=rate).losses
    return numbers


@torch.no_grad()
def evaluate_noisy_words(model: nn.Module, size: Size) -> dict[str, float]:
    """Nats per noisy word, and the share of words whose likeliest translation is the right one."""
    source, target, right = examples(size, 500, torch.Generator().manual_seed(10_000))
    logits = model.eval()(input_ids=source, labels=target).logits
    nats = nn.functional.cross_entropy(logits.transpose(1, 2), target).item()
    return {"nats": nats, "right": (logits.argmax(-1) == right).float().mean().item()}


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The effect of smoothing on nats and on words, and of warm-up on the last tenth of the loss."""
    more = lambda what: [run["smoothed"][what] - run["plain"][what] for run in runs]
    last = lambda losses: sum(losses[-len(losses) // 10 :]) / len(losses[-len(losses) // 10 :])
    return [
        Measurement("nats per word, with smoothing minus without", more("nats"), at_least=0),
        Measurement("share of correct words, with smoothing minus without", more("right"), at_least=-0.005),
        Measurement(
            "final loss, without warm-up minus with", [last(r["cold"]) - last(r["warmed"]) for r in runs], at_least=0.1
        ),
    ]


def draw(runs: Sequence[Numbers]):
    """Left: nats per word, one dot per seed. Right: training loss against steps, one line per seed."""
    fig, (left, right) = figure(2)
    for i, name in enumerate(("plain", "smoothed")):
        left.plot([i] * len(runs), [run[name]["nats"] for run in runs], "o", alpha=0.7)
    left.set(xticks=[0, 1], xticklabels=["no smoothing", "smoothing 0.1"], xlim=(-0.5, 1.5), ylabel="nats per word")
    for name, label, colour in (("cold", "no warm-up", "tab:orange"), ("warmed", "warm-up", "tab:blue")):
        for run in runs:
            right.plot(run[name], color=colour, alpha=0.7, label=label if run is runs[0] else None)
    right.set(xlabel="step", ylabel="training loss")
    right.legend()
    return fig
