"""A distilled student is better than the same model trained without a teacher.

Measured: the held-out masked-language-model loss of a BERT with 4 layers, and of three DistilBERTs with 2 layers that
are trained for the same number of steps: on the masked words alone; on the teacher's predictions, the masked words and
the cosine distance to its hidden states (weights 5, 2, 1); and in the same way, but initialised from every second layer
of the teacher, as in the paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._english import batches, rows
from tfkit.objectives.distillation import distillation_loss
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.train import mean_loss

CLAIM = Claim(
    title="A student that learns from its teacher and starts from its layers beats the same model trained alone",
    paper="Sanh et al. 2019, arXiv:1910.01108, sections 3 and 4.2",
    remark="At this scale it is the teacher's layers that help; its predictions alone save next to nothing in so few "
    "steps.",
    alt="Held-out loss, one dot per seed: highest for the student trained alone, hardly lower for the distilled one, "
    "lowest for the one that also starts from the teacher's layers",
)
ARMS = ("alone", "taught", "taught, from its layers")


@dataclass(frozen=True)
class Size:
    teacher_steps: int
    steps: int
    width: int = 48
    vocab_size: int = 400
    length: int = 24
    batch: int = 16


SCALES = {
    "tiny": Size(teacher_steps=2, steps=2, width=16, vocab_size=400, length=16, batch=4),
    "small": Size(teacher_steps=400, steps=200),
    "full": Size(teacher_steps=20000, steps=5000, width=256, vocab_size=4000, length=64, batch=32),
}


def make_model(name: str, layers: int, size: Size):
    """Teacher and students differ only in the number of layers; no dropout."""
    width = dict(d_model=size.width, n_layers=layers, n_heads=4, d_ff=4 * size.width, max_length=size.length)
    quiet = dict(dropout=0.0, attn_dropout=0.0)
    return tfkit.from_config(name, "masked_lm", vocab_size=size.vocab_size, **width, **quiet)


def start_from(student, teacher) -> None:
    """Copies all shared parts, and layers 0, 2, … of the teacher."""
    kept = {}
    for name, value in teacher.state_dict().items():
        stem, *rest = name.split(".")
        number = int(rest[0]) if stem == "layers" else 0
        if number % 2 == 0:
            kept[".".join([stem, str(number // 2), *rest[1:]]) if stem == "layers" else name] = value
    wanted = student.state_dict().keys()
    student.load_state_dict({name: value for name, value in kept.items() if name in wanted})


def distillation_loss_of(teacher):
    """A loss of (student, batch): 5 · soft + 2 · hard + cosine, DistilBERT's weights; the teacher is not trained."""

    def loss(student, batch):
        """-> scalar; the teacher reads the same masked input_ids [B,L], without a gradient"""
        with torch.no_grad():
            right = teacher(batch["input_ids"])
        own = student(batch["input_ids"])
        mask = batch["attention_mask"].bool()
        parts = distillation_loss(
            own.logits, right.logits, batch["labels"], own.last_hidden_state, right.last_hidden_state, mask
        )
        return 5 * parts["soft"] + 2 * parts["hard"] + parts["cosine"]

    return loss


def run(seed: int, size: Size) -> Numbers:
    """Held-out loss of the teacher and of each student."""
    masked, text = MaskedLM(4, size.vocab_size), rows(size.vocab_size, size.length)
    learned, held = (batches(part, masked, size.batch) for part in text)
    own_loss = lambda model, batch: model(**batch).loss
    teacher = make_model("bert", 4, size)
    train(teacher, learned, size.teacher_steps, 2e-3, seed)
    found = {"teacher": mean_loss(teacher, held, own_loss)}
    for arm in ARMS:
        torch.manual_seed(seed)
        student = make_model("distilbert", 2, size)
        if arm == ARMS[2]:
            start_from(student, teacher)
        teacher.eval()
        train(
            student,
            learned,
            size.steps,
            2e-3,
            seed,
            **({} if arm == ARMS[0] else {"loss": distillation_loss_of(teacher)}),
        )
        found[arm] = mean_loss(student, held, own_loss)
    return found


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Nats that the student gains by distillation, and additionally by starting from the teacher's layers."""
    less = lambda arm, other: [run[other] - run[arm] for run in runs]
    return [
        Measurement("nats per masked word that distillation saves", less(ARMS[1], ARMS[0]), at_least=0.01),
        Measurement("the same with the teacher's layers as a start", less(ARMS[2], ARMS[0]), at_least=0.1),
    ]


def draw(runs: Sequence[Numbers]):
    """A row for the teacher and for each student, one dot per seed."""
    fig, (axis,) = figure()
    names = {ARMS[0]: "student alone", ARMS[1]: "taught", ARMS[2]: "taught, from its layers"}
    dots(axis, runs, {**names, "teacher": "teacher, 4 layers"}, "held-out nats per masked word")
    return fig
