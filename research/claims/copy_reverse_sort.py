"""Attention copies, reverses and sorts; a single vector for the whole sequence is a bottleneck that shows with length.

Measured: a sequence of digits, preceded by a token that names the task, is copied, reversed or sorted by three small
models. They are trained alike, on all three tasks at once and on lengths from 2 up: a GRU encoder-decoder whose only
link is the encoder's last state, the same with attention, and the 2017 transformer. The score is the share of digits
that greedy decoding gets right in new sequences, by length. Bands: from the shortest to the longest sequences the
bottleneck loses at least 0.2 of the digits; attention gets at least 0.2 more of the longest ones right; the transformer
gets at least 0.9 of them right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train

CLAIM = Claim(
    title="With attention a model copies, reverses and sorts; one vector for the whole sequence is a bottleneck",
    paper="Bahdanau et al. 2015, arXiv:1409.0473, figure 2; Vaswani et al. 2017, arXiv:1706.03762",
    alt="For each task, the share of correct digits against length: the GRU's line falls, that of the GRU with "
    "attention stays high",
)
PAD, START, END, TASKS, FIRST = 0, 1, 2, ("copy", "reverse", "sort"), 6  # ids: 3 to 5 name the task, then digits
NAMES = {"bottleneck": ("GRU", "tab:orange"), "attention": ("GRU with attention", "tab:green"),
         "transformer": ("transformer", "tab:blue")}  # fmt: skip


@dataclass(frozen=True)
class Size:
    steps: int
    lengths: tuple[int, ...] = (3, 6, 9)  # to be tested on; training sees all from 2 to the last
    digits: int = 10
    batch: int = 32
    width: int = 32
    peak: float = 6e-3
    tests: int = 50


SCALES = {
    "tiny": Size(steps=1, lengths=(2, 3), batch=4, width=8, tests=2),
    "small": Size(steps=1500),
    "full": Size(steps=6000, lengths=(4, 8, 16, 24, 32), width=128, peak=1e-3, tests=500),
}


def models(size: Size) -> dict[str, nn.Module]:
    """The three models, which read the same ids."""
    common = dict(head="seq2seq_lm", vocab_size=FIRST + size.digits, label_smoothing=0.0, dropout=0.0)
    cells = dict(d_embed=size.width, d_hidden=size.width)
    rnn = lambda attention: tfkit.from_config("rnn_seq2seq", attention=attention, **cells, **common)
    wide = dict(d_model=size.width, n_heads=4, d_ff=4 * size.width, n_layers=2, max_length=2 * max(size.lengths) + 4)
    return {"bottleneck": rnn("none"), "attention": rnn("dot"),
            "transformer": tfkit.from_config("transformer", **wide, **common)}  # fmt: skip


def examples(task: Tensor, length: int, size: Size, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """task int64 [B] -> sources [B,1+length], whose first token is the task, and targets [B,length+1] with an end
    token"""
    digits = torch.randint(FIRST, FIRST + size.digits, (len(task), length), generator=generator)
    done = torch.stack([digits, digits.flip(1), digits.sort(1).values])[task, torch.arange(len(task))]
    return torch.cat([3 + task[:, None], digits], 1), torch.cat([done, torch.full_like(task[:, None], END)], 1)


def run(seed: int, size: Size) -> Numbers:
    """Model -> task -> the share of correct digits, by length."""

    def batches(generator):
        """Endless: the three tasks in turn, input_ids [B,1+L] and labels [B,L+1], one L drawn for each batch."""
        while True:  # all rows of a batch have one length: no padding
            length = int(torch.randint(2, max(size.lengths) + 1, (), generator=generator))
            source, target = examples(torch.arange(size.batch) % len(TASKS), length, size, generator)
            yield {"input_ids": source, "labels": target}

    scores: Numbers = {"lengths": list(size.lengths)}
    for name, model in models(size).items():
        train(model, batches, size.steps, size.peak, seed)
        rights = [
            accuracy(model, length, size, torch.Generator().manual_seed(10_000 + seed)) for length in size.lengths
        ]
        scores[name] = {task: [one[i] for one in rights] for i, task in enumerate(TASKS)}
    return scores


def accuracy(model: nn.Module, length: int, size: Size, generator: torch.Generator) -> list[float]:
    """The share of correct digits in each task."""
    source, target = examples(torch.arange(len(TASKS) * size.tests) % len(TASKS), length, size, generator)
    predicted = tfkit.generate(model, source, max_new_tokens=length, end_id=-1)[:, 1:]
    return [(predicted == target[:, :-1])[i :: len(TASKS)].float().mean().item() for i in range(len(TASKS))]


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The GRU's loss of accuracy with length, the lead of attention at the longest, and the transformer's accuracy."""
    short, long = min(runs[0]["lengths"]), max(runs[0]["lengths"])
    mean = lambda run, name, at, tasks=TASKS: sum(run[name][task][at] for task in tasks) / len(tasks)
    lead = [mean(run, "attention", -1) - mean(run, "bottleneck", -1) for run in runs]
    fall = [mean(run, "bottleneck", 0) - mean(run, "bottleneck", -1) for run in runs]
    return [
        Measurement(f"share of correct digits, GRU, length {short} minus length {long}", fall, at_least=0.2),
        Measurement(f"share of correct digits at length {long}, GRU with attention minus GRU", lead, at_least=0.2),
        Measurement(
            f"share of correct digits at length {long}, transformer",
            [mean(run, "transformer", -1) for run in runs],
            at_least=0.9,
        ),
    ]


def draw(runs: Sequence[Numbers]):
    """A plot for each task: correct digits against length, a line for each model and seed."""
    fig, axes = figure(len(TASKS))
    for axis, task in zip(axes, TASKS, strict=True):
        for name, (label, colour) in NAMES.items():
            for run in runs:
                shown = label if run is runs[0] else None
                axis.plot(run["lengths"], run[name][task], "o-", color=colour, alpha=0.7, label=shown)
        axis.set(title=task, xlabel="digits in the sequence", ylabel="digits right", ylim=(0, 1.03))
        axis.set_xticks(runs[0]["lengths"])
    axes[-1].legend(loc="lower left")
    return fig
