"""Masked words that depend on each other are predicted better one by one, in any order, than all at once.

XLNet predicts words one after the other in a random order; BERT predicts its masked words as if they were independent.
The paper's own example is "New York is a city": if both words of the name are masked, BERT knows that some name is
there, and predicts its two words independently. Here a row consists of names of two words, each first word with a last
word of its own, between full stops, and two words of five are masked. Measured: nats per masked word, in new rows, of
one XLNet trained in two ways for the same number of steps, with the same masked words: each of them may see the masked
words that come before it in the order, or, as in BERT, none; and of a BERT of the same size, trained on masked words.
The sum over the masked words is the negative log-probability of all of them together, so the three are comparable. The
best possible value can be counted: with N names, a name with both words masked costs log N nats one by one, twice that
all at once, and a name with one masked word costs nothing. Bands: one by one saves 0.6 to 1.4 times what can be saved,
and at least 0.1 nats against either alternative (a trial with another seed gave 0.97 times, 0.36 and 1.2: BERT had
learned little of the names by then).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import torch
from torch import Tensor

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._english import batches
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.permutation_lm import PermutationLM
from tfkit.train import mean_loss

CLAIM = Claim(
    title="Masked words that depend on each other are predicted better one by one in a random order than all at once",
    paper="Yang et al. 2019, arXiv:1906.08237, section 2.6 and table 6",
    remark="One by one is still improving after 400 steps: 0.45 to 0.64 nats per masked word, where 0.37 is possible. "
    "On English text instead (the same models, 200 steps on docstrings, two fifths of the words masked) one by one "
    "saved 0.019 nats per masked word (-0.017 to 0.048): little was learned beyond frequencies.",
    alt="Nats per masked word in new rows, one dot per seed, of XLNet one by one, of XLNet all at once and of BERT, "
    "and the best possible value in either way",
)
STOP, FIRST = 5, 6  # ids: those below 5 are special


@dataclass(frozen=True)
class Size:
    steps: int
    share: float = 0.4  # of words to predict: more than in either paper, so that seeing other targets matters
    names: int = 16
    in_row: int = 6
    rows: int = 4000
    width: int = 48
    batch: int = 16
    peak: float = 4e-3

    @property
    def vocab_size(self) -> int:
        """The special symbols, the stop, first words and last words."""
        return FIRST + 2 * self.names


SCALES = {
    "tiny": Size(steps=2, names=4, in_row=3, rows=20, width=16, batch=4),
    "small": Size(steps=400),
    "full": Size(steps=10000, names=1000, in_row=20, rows=100_000, width=256, batch=32),
}


def rows_of_names(size: Size, generator: torch.Generator) -> Tensor:
    """int64 [N,3·in_row]: first word, last word, stop, …"""
    drawn = torch.randint(size.names, (size.rows, size.in_row), generator=generator)
    return torch.stack([FIRST + drawn, FIRST + size.names + drawn, torch.full_like(drawn, STOP)], -1).flatten(1)


def at_best(batches, names: int) -> dict[str, float]:
    """The nats per masked word of a model that knows all names, one by one and all at once: only names with both words
    masked cost any."""
    blanks = doubles = 0
    for batch in batches(torch.Generator().manual_seed(0)):
        blank = batch["target_mapping"].sum(1).unflatten(-1, (-1, 3))[..., :2]  # [B,names,2]
        blanks += int(batch["target_mapping"].sum())
        doubles += int((blank.sum(-1) == 2).sum())
    return {
        "one by one, at best": doubles * log(names) / blanks,
        "all at once, at best": 2 * doubles * log(names) / blanks,
    }


def make_model(name: str, size: Size):
    """No dropout; only BERT needs max_length, as XLNet's positions are relative."""
    width = dict(d_model=size.width, n_layers=2, n_heads=4, d_ff=4 * size.width, vocab_size=size.vocab_size)
    extra = dict(max_length=3 * size.in_row, attn_dropout=0.0) if name == "bert" else {}
    return tfkit.from_config(name, "masked_lm", dropout=0.0, **width, **extra)


@dataclass(frozen=True)
class AllAtOnce:
    """The targets of the permutation, none of which sees another: BERT's assumption in the form of XLNet's inputs."""

    order: PermutationLM

    def __call__(self, batch, generator):
        given = self.order(batch, generator)
        blank = given["target_mapping"].sum(1)  # [B,L]
        return {**given, "perm_mask": blank[:, None].expand_as(given["perm_mask"])}


@dataclass(frozen=True)
class AllMasked:
    """The same targets for BERT: each is a mask token."""

    order: PermutationLM

    def __call__(self, batch, generator):
        blank = self.order(batch, generator)["target_mapping"].sum(1) > 0
        ids = batch["input_ids"]
        return {"input_ids": ids.masked_fill(blank, 4), "labels": ids.masked_fill(~blank, -100)}


def run(seed: int, size: Size) -> Numbers:
    """Nats per masked word in new rows, of the three methods and at best."""
    learned, held = (rows_of_names(size, torch.Generator().manual_seed(i)) for i in (2 * seed, 2 * seed + 1))
    held = held[: len(held) // 10]
    own_loss = lambda model, batch: model(**batch).loss
    order = PermutationLM(size.share)
    found: Numbers = at_best(batches(held, order, size.batch), size.names)
    for way, name, learns, fills in (
        ("one by one", "xlnet", order, order),
        ("all at once", "xlnet", AllAtOnce(order), AllAtOnce(order)),
        ("bert", "bert", MaskedLM(4, size.vocab_size, size.share), AllMasked(order)),
    ):
        torch.manual_seed(seed)
        model = make_model(name, size)
        train(model, batches(learned, learns, size.batch), size.steps, size.peak, seed)
        found[way] = mean_loss(model, batches(held, fills, size.batch), own_loss)
    return found


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The nats saved by seeing earlier targets, compared with XLNet all at once, with what can be saved at best, and
    with BERT."""
    less = lambda other, one="one by one": [run[other] - run[one] for run in runs]
    most = less("all at once, at best", "one by one, at best")
    saved = less("all at once")
    share = [a / b for a, b in zip(saved, most, strict=True)]
    return [
        Measurement("nats per masked word saved by seeing earlier ones", saved, at_least=0.1),
        Measurement("the same, as a share of what can be saved", share, 0.6, 1.4),
        Measurement("nats per masked word, BERT minus one by one", less("bert"), at_least=0.1),
    ]


def draw(runs: Sequence[Numbers]):
    """A row for each of the three methods and for the best possible values, one dot per seed."""
    fig, (axis,) = figure()
    names = {
        "one by one": "XLNet, one by one",
        "one by one, at best": "one by one, at best",
        "all at once": "XLNet, all at once",
        "bert": "BERT, all at once",
        "all at once, at best": "all at once, at best",
    }
    dots(axis, runs, names, "nats per masked word, new rows")
    return fig
