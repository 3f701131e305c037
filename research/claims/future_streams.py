"""A second predicting stream knows in one pass which word comes after the next, and the next is predicted no worse.

Characters take the place of words, because then the alternative can be computed exactly: a decoder that was trained on
the next character alone is run once for each possible next character, and its predictions after them are averaged with
their probabilities. Measured on held-out text, in nats per character, after the same number of steps: the loss on the
next character with one and with two predicting streams; and the loss on the character after it by the second stream, by
that sum over all characters, and by character frequencies. The paper's gain in summarisation is not tested here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._english import documents, split_documents

CLAIM = Claim(
    title="A stream for the word after next learns what comes there, in the same pass, and costs the next word nothing",
    paper="Qi et al. 2020, arXiv:2001.04063, sections 3.1 and 3.2",
    alt="Held-out nats per character, one dot per seed: the next character with one stream and with two; the one "
    "after it by the second stream, by the sum over all characters, and by character frequencies",
)


@dataclass(frozen=True)
class Size:
    steps: int
    width: int = 48
    symbols: int = 40
    length: int = 24
    batch: int = 16
    rows: int = 8  # held-out rows that are tested
    positions: int = 6  # positions tested in each of them


SCALES = {
    "tiny": Size(steps=2, width=16, symbols=12, length=12, batch=4, rows=2, positions=2),
    "small": Size(steps=500),
    "full": Size(steps=10000, width=256, length=128, batch=32, rows=50),
}


def characters(size: Size) -> tuple[torch.Tensor, torch.Tensor]:
    """int64 [N,length+1] to learn from and held out: 1 for a rare character, from 2 on the frequent ones"""
    parts = [" ".join(part).lower() for part in split_documents(documents())]
    known = {c: i for i, (c, _) in enumerate(Counter(parts[0]).most_common(size.symbols - 2), 2)}
    rows = [torch.tensor([known.get(c, 1) for c in part]) for part in parts]
    return tuple(ids[: len(ids) // (size.length + 1) * (size.length + 1)].view(-1, size.length + 1) for ids in rows)  # type: ignore[return-value]


def make_model(streams: int, size: Size):
    """ProphetNet's decoder alone, with this number of predicting streams and no dropout."""
    shape = dict(vocab_size=size.symbols, d_model=size.width, n_decoder_layers=2, n_decoder_heads=4, ngram=streams)
    quiet = dict(dropout=0.0, attn_dropout=0.0, ff_dropout=0.0, cross_attention=False, max_length=size.length + 8)
    ids = dict(pad_token_id=0, bos_token_id=1, eos_token_id=1, decoder_start_token_id=1)
    return tfkit.from_config("prophetnet", "causal_lm", d_decoder_ff=4 * size.width, **shape, **quiet, **ids)


def batches(rows: torch.Tensor, size: int):
    """One pass over rows [N,L+1], whose last L characters are the labels of the first L."""

    def one_pass(generator):
        """The last batch may be smaller."""
        for index in torch.randperm(len(rows), generator=generator).split(size):
            yield {"input_ids": rows[index, :-1], "labels": rows[index, 1:]}

    return one_pass


def nats(logits: torch.Tensor, labels: torch.Tensor) -> float:
    """logits [B,T,V], labels [B,T] -> their mean cross-entropy"""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten()).item()


@torch.no_grad()
def sum_over_next(model, rows: torch.Tensor, positions: Sequence[int], symbols: int) -> float:
    """Predicts the character after next with a model of the next one: one pass for each possible next character."""
    found = []
    for position in positions:
        between = model(input_ids=rows[:, :position]).logits[:, -1].log_softmax(-1)  # [B,V]
        tried = rows[:, None, : position + 1].repeat(1, symbols, 1)  # [B,V,place+1]
        tried[..., -1] = torch.arange(symbols)
        after = model(input_ids=tried.flatten(0, 1)).logits[:, -1].log_softmax(-1).unflatten(0, between.shape)
        log_p = torch.logsumexp(between[..., None] + after, 1)  # [B,V]
        found.append(F.nll_loss(log_p, rows[:, position + 1]).item())
    return sum(found) / len(found)


def run(seed: int, size: Size) -> Numbers:
    """Nats per character."""
    learned, held = characters(size)
    models = {}
    for streams in (1, 2):
        torch.manual_seed(seed)
        models[streams] = make_model(streams, size)
        train(models[streams], batches(learned, size.batch), size.steps, 4e-3, seed)
        models[streams].eval()
    few = held[torch.randperm(len(held), generator=torch.Generator().manual_seed(seed))[: size.rows]]
    step = (size.length - 2) // size.positions
    positions = range(size.length - 1 - step * (size.positions - 1), size.length, step)
    at = torch.tensor(positions)
    with torch.no_grad():
        one, two = (models[n](input_ids=held[:400, :-1]).logits for n in (1, 2))
        ahead = models[2](input_ids=few[:, :-1]).logits_ngram[:, 0]
    frequency = learned.flatten().bincount(minlength=size.symbols).add(1).log()[None, None]
    return {
        "next, one stream": nats(one, held[:400, 1:]),
        "next, two streams": nats(two, held[:400, 1:]),
        "after next, second stream": nats(ahead[:, at], few[:, at + 1]),
        "after next, summing": sum_over_next(models[1], few, positions, size.symbols),
        "after next, frequency": nats(frequency.expand(*few[:, at].shape, -1), few[:, at + 1]),
    }


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The cost of the second stream for the next character, its distance from the sum, and its lead over
    frequencies."""
    over = lambda one, other: [run[one] - run[other] for run in runs]
    ahead = "after next, second stream"
    return [
        Measurement(
            "loss on the next character, two streams minus one, nats",
            over("next, two streams", "next, one stream"),
            at_most=0.1,
        ),
        Measurement("loss on the one after, second stream minus sum", over(ahead, "after next, summing"), at_most=0.2),
        Measurement(
            "loss on the one after, frequencies minus second stream", over("after next, frequency", ahead), at_least=0.1
        ),
    ]


def draw(runs: Sequence[Numbers]):
    """A row for each of the five measurements, one dot per seed."""
    fig, (axis,) = figure()
    dots(axis, runs, {name: name for name in runs[0]}, "held-out nats per character")
    return fig
