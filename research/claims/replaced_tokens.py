"""Telling original tokens from replaced ones teaches an encoder more than predicting masked ones.

ELECTRA's small generator fills in the masked tokens and its discriminator judges every token, so a step costs more than
one of masked language modelling; the latter gets as many more steps as make the arithmetic equal (matrix products,
counted). The encoder, from random weights or after either objective, is then fine-tuned on two small tasks: whether two
neighbouring words of a text were swapped, and which part of Python's library a text is about. Measured: the accuracy on
held-out texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._english import batches, docstrings, rows, vocabulary
from tfkit.models.electra import share_embeddings
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.replaced_tokens import replace_tokens, replaced_token_detection_loss

CLAIM = Claim(
    title="At equal compute, replaced-token detection teaches an encoder more than masked language modelling",
    paper="Clark et al. 2020, arXiv:2003.10555, sections 3.3 and 3.4",
    remark="Tried: 150 steps of ELECTRA at width 48, masked language modelling for the same arithmetic, and 80 steps "
    "of each task. No encoder detects swapped neighbours better than chance, so the objectives cannot be told apart.",
    alt="Accuracy on two small tasks, one dot per seed, from random weights, after masked language modelling, and "
    "after replaced-token detection",
)
ARMS = ("fresh", "masked", "replaced")
TASKS = ("order", "topic")


@dataclass(frozen=True)
class Size:
    steps: int  # of ELECTRA
    task_steps: int
    width: int = 48
    vocab_size: int = 400
    length: int = 24
    batch: int = 16


SCALES = {
    "tiny": Size(steps=2, task_steps=2, width=16, length=16, batch=4),
    "small": Size(steps=150, task_steps=80),
    "full": Size(steps=20000, task_steps=1000, width=256, vocab_size=4000, length=64, batch=32),
}


def make_model(head: str, size: Size, width: int = 0, labels: int = 2):
    """`width` 0: the size's own; embeddings always have the size's width, so that both models can share them."""
    width = width or size.width
    shape = dict(d_model=width, n_layers=2, n_heads=4, d_ff=4 * width, d_embed=size.width, max_length=size.length)
    quiet = dict(dropout=0.0, attn_dropout=0.0, num_labels=labels)
    return tfkit.from_config("electra", head, vocab_size=size.vocab_size, **shape, **quiet)


class GeneratorAndDiscriminator(nn.Module):
    """Generator and discriminator, and their loss: the discriminator's counts 50 times, as in the paper."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.generator, self.encoder = (
            make_model("masked_lm", size, size.width // 2),
            make_model("replaced_token", size),
        )
        share_embeddings(self.generator, self.encoder)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor) -> Tensor:
        """input_ids, with masks, attention_mask and labels [B,L] (-100: not masked) -> scalar"""
        guessed = self.generator(input_ids, attention_mask, labels=labels)
        original = input_ids.where(labels == -100, labels)
        u = torch.rand(guessed.logits.shape).clamp(1e-6, 1 - 1e-6)
        corrupted = replace_tokens(input_ids, labels, guessed.logits, u)
        judged = self.encoder(corrupted, attention_mask).logits
        return guessed.loss + 50 * replaced_token_detection_loss(judged, original, corrupted, attention_mask.bool())


def arithmetic(loss, batch) -> int:
    """Floating-point operations of the matrix products of one step, forward and backward."""
    with FlopCounterMode(display=False) as counter:
        loss(batch).backward()
    return counter.get_total_flops()


def pretrain(arm: str, seed: int, size: Size) -> nn.Module:
    """An encoder after one of the objectives, or with random weights; all objectives use the operations of ELECTRA's
    steps."""
    torch.manual_seed(seed)
    both, masked_lm = GeneratorAndDiscriminator(size), make_model("masked_lm", size)
    learned = batches(rows(size.vocab_size, size.length)[0], MaskedLM(4, size.vocab_size), size.batch)
    batch = next(iter(learned(torch.Generator().manual_seed(seed))))
    if arm == "masked":
        ratio = arithmetic(lambda b: both(**b), batch) / arithmetic(lambda b: masked_lm(**b).loss, batch)
        train(masked_lm, learned, round(size.steps * ratio), 6e-3, seed)
        return masked_lm
    if arm == "replaced":
        train(both, learned, size.steps, 6e-3, seed, loss=lambda model, batch: model(**batch))
    return both.encoder


def swap_neighbours(ids: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Swaps two neighbouring tokens in half of the texts: ids [N,L] -> ids [N,L], labels [N]"""
    labels = torch.randint(2, (len(ids),), generator=generator)
    position = torch.randint(ids.size(1) - 1, (len(ids), 1), generator=generator)
    order = torch.arange(ids.size(1)).expand_as(ids).scatter(1, torch.cat([position, position + 1], 1),
                                                             torch.cat([position + 1, position], 1))  # fmt: skip
    return torch.where(labels[:, None] == 1, ids.gather(1, order), ids), labels


def docstring_topics(size: Size, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The docstrings of the eight parts of the library with the most of them -> ids [N,L], labels [N]"""
    parts = [d.file.partition("/")[0] for d in docstrings()]
    most = sorted(set(parts), key=parts.count, reverse=True)[:8]
    chosen = [(d, most.index(part)) for d, part in zip(docstrings(), parts, strict=True) if part in most]
    order = torch.randperm(len(chosen), generator=generator).tolist()
    texts = [f"{chosen[i][0].summary} {chosen[i][0].body}" for i in order]
    ids = vocabulary(size.vocab_size).batch(texts, length=size.length)["input_ids"]
    return ids, torch.tensor([chosen[i][1] for i in order])


def examples(task: str, seed: int, size: Size) -> list[tuple[Tensor, Tensor]]:
    """Training and held-out examples."""
    generator = torch.Generator().manual_seed(seed)
    if task == "order":
        return [swap_neighbours(part[torch.randperm(len(part), generator=generator)[:n]], generator)
                for part, n in zip(rows(size.vocab_size, size.length), (2000, 500), strict=True)]  # fmt: skip
    ids, labels = docstring_topics(size, generator)
    return [(ids[len(ids) // 3 :], labels[len(ids) // 3 :]), (ids[: len(ids) // 3], labels[: len(ids) // 3])]


def accuracy(encoder: nn.Module, task: str, seed: int, size: Size) -> float:
    """Held-out accuracy after fine-tuning all weights on the task."""
    (ids, labels), (test_ids, answers) = examples(task, seed, size)
    torch.manual_seed(seed)
    model = make_model("sequence_classification", size, labels=int(labels.max()) + 1)
    body = {name: value for name, value in encoder.state_dict().items() if not name.startswith("task_head.")}
    model.load_state_dict(body, strict=False)

    def one_pass(generator):
        """The last batch may be smaller; id 0 is padding."""
        for index in torch.randperm(len(ids), generator=generator).split(size.batch):
            yield {"input_ids": ids[index], "attention_mask": (ids[index] != 0).long(), "labels": labels[index]}

    train(model, one_pass, size.task_steps, 3e-3, seed)
    with torch.no_grad():
        found = model.eval()(test_ids, (test_ids != 0).long()).logits.argmax(-1)
    return (found == answers).float().mean().item()


def run(seed: int, size: Size) -> Numbers:
    """Accuracy of each encoder on each task."""
    found: Numbers = {}
    for arm in ARMS:
        encoder = pretrain(arm, seed, size)
        found |= {f"{task}, {arm}": accuracy(encoder, task, seed, size) for task in TASKS}
    return found


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Accuracy after replaced-token detection, compared with masked language modelling and with random weights."""

    def over(task: str, other: str) -> list[float]:
        """Differences in accuracy, one per seed."""
        return [run[f"{task}, replaced"] - run[f"{task}, {other}"] for run in runs]

    return [
        Measurement(
            "accuracy on swapped neighbours, replaced tokens minus masked ones", over("order", "masked"), at_least=0.0
        ),
        Measurement("the same, replaced tokens minus random weights", over("order", "fresh"), at_least=0.02),
        Measurement("accuracy on topics, replaced tokens minus masked ones", over("topic", "masked"), at_least=0.0),
        Measurement("the same, replaced tokens minus random weights", over("topic", "fresh"), at_least=0.02),
    ]


def draw(runs: Sequence[Numbers]):
    """A plot for each task, a row for each encoder, one dot per seed."""
    fig, axes = figure(2)
    names = {"replaced": "replaced words", "masked": "masked words", "fresh": "fresh weights"}
    for axis, task in zip(axes, TASKS, strict=True):
        label = {"order": "swapped neighbours noticed", "topic": "topics named"}[task]
        dots(axis, runs, {f"{task}, {arm}": name for arm, name in names.items()}, label)
    return fig
