"""A teacher's uncertainty lets a student learn from a thirtieth of the data.

Measured: a decoder learns the bytes of Python's language reference from all of its text; two students of the same shape
see 3% of that text, for the same number of steps. One is trained on the next bytes themselves, the other on the
teacher's distribution over them (at temperature 2). The score is nats per byte of topics that none of them has seen, at
the end of training. The paper's is a speech model: 58.9% of frames right from all the data; from 3% of it 44.5% with
hard targets and 57.0% with soft ones. Bands: little data costs at least 0.2 nats with hard targets, and soft targets
recover at least half of that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._manual import BYTES, held_out_nats, next_byte_loss, random_pieces, train_test_bytes
from tfkit.objectives.distillation import distillation_loss

CLAIM = Claim(
    title="From little data a student learns most of what its teacher knows, if it is trained on the teacher's "
    "distribution",
    paper="Hinton et al. 2015, arXiv:1503.02531, table 5",
    alt="Nats per byte of unseen text, one dot per seed: lowest for the teacher, a little higher for the student with "
    "soft targets, far higher for the one with hard targets",
)
NAMES = {"teacher": "teacher, all of the text", "soft": "3%, the teacher's distribution", "hard": "3%, the bytes alone"}


@dataclass(frozen=True)
class Size:
    steps: int
    share: float = 0.03
    length: int = 32
    width: int = 48
    batch: int = 24
    peak: float = 4e-3


SCALES = {
    "tiny": Size(steps=1, length=8, width=16, batch=2),
    "small": Size(steps=500),
    "full": Size(steps=20000, length=256, width=256, batch=32, peak=5e-4),
}


def distillation_loss_of(teacher: nn.Module):
    """A loss of (student, rows): the divergence from the teacher's distribution over each next byte."""

    def loss(student: nn.Module, rows: Tensor) -> Tensor:
        """rows [B,1+L] -> scalar"""
        with torch.no_grad():
            known = teacher(input_ids=rows[:, :-1])
        own, every = student(input_ids=rows[:, :-1]), torch.ones_like(rows[:, 1:], dtype=torch.bool)
        states = own.last_hidden_state, known.last_hidden_state
        return distillation_loss(own.logits, known.logits, rows[:, 1:], *states, every)["soft"]

    return loss


def run(seed: int, size: Size) -> Numbers:
    """Nats per byte of the teacher and of both students."""
    learned = train_test_bytes()[0]
    few = learned[: int(size.share * len(learned))]
    every, some = (random_pieces(text, size.length + 1, size.batch) for text in (learned, few))
    models = {}
    for number, name in enumerate(NAMES):
        torch.manual_seed(1000 * number + seed)  # no student starts from its teacher's first weights
        models[name] = tfkit.from_config("llama", "causal_lm", vocab_size=BYTES, d_model=size.width, n_layers=2,
                                         n_heads=4, d_ff=2 * size.width)  # fmt: skip
    train(models["teacher"], every, size.steps, size.peak, seed, loss=next_byte_loss)
    models["teacher"].eval()
    train(models["soft"], some, size.steps, size.peak, seed, loss=distillation_loss_of(models["teacher"]))
    train(models["hard"], some, size.steps, size.peak, seed, loss=next_byte_loss)
    nats = {name: held_out_nats(model, size.length) for name, model in models.items()}
    return {name: sum(losses) / len(losses) for name, losses in nats.items()}


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The cost of little data with hard targets, and the share of it that soft targets recover."""
    cost = [run["hard"] - run["teacher"] for run in runs]
    back = [(run["hard"] - run["soft"]) / (run["hard"] - run["teacher"]) for run in runs]
    return [
        Measurement("cost of little data with hard targets, nats per byte", cost, at_least=0.2),
        Measurement("share of that cost recovered by soft targets", back, at_least=0.5),
    ]


def draw(runs: Sequence[Numbers]):
    """A row for the teacher and for each student, one dot per seed."""
    fig, (axis,) = figure()
    dots(axis, runs, NAMES, "nats per byte, unseen text")
    return fig
