"""Reformer's LSH attention fetches each symbol from half a sequence ago, in memory that is linear in the length.

Measured: the paper's duplication task, 0w0w with w of random symbols, in which one layer must predict the second w. One
model is trained with two rounds of hashing and one of the same shape with full attention (nothing is hashed if the
sequence is a single chunk); the first is tested with one, two and four rounds. Also measured: the peak bytes of tensors
in a training step of a two-layer Reformer and of GPT-2, whose attention computes all scores at once, at lengths up to
2,048. Bands: with four rounds at least 0.9 of the symbols are right, and no fewer than with one; four times the length
takes Reformer at most 5 times the memory, and full attention at least 9 times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import tfkit
from research import Claim, Measurement, Numbers, figure, lengths, train
from tfkit.tools.memory import peak_bytes

CLAIM = Claim(
    title="LSH attention duplicates a sequence, more reliably with more rounds, in memory linear in its length",
    paper="Kitaev et al. 2020, arXiv:2001.04451, tables 1 and 2",
    alt="Left: share of correct symbols against rounds of hashing, with full attention as a reference line. Right: "
    "memory of a training step against length, where Reformer's line rises less steeply than full attention's",
)


@dataclass(frozen=True)
class Size:
    steps: int
    length: int = 32
    symbols: int = 12
    width: int = 64
    chunk: int = 8
    batch: int = 32
    rounds: tuple[int, ...] = (1, 2, 4)
    lengths: tuple[int, ...] = (256, 512, 1024, 2048)
    peak: float = 5e-3


SCALES = {
    "tiny": Size(steps=2, length=16, symbols=4, width=16, chunk=4, batch=2, lengths=(64, 256)),
    "small": Size(steps=600),
    "full": Size(steps=30000, length=1024, symbols=127, width=256, chunk=64, batch=16, rounds=(1, 2, 4, 8),
                 lengths=(512, 1024, 2048, 4096), peak=1e-3),
}  # fmt: skip


def reformer(size: Size, chunk: int, rounds: int = 1, length: int = 0, layers: int = 1) -> nn.Module:
    """A Reformer with chunks of `chunk` positions and `rounds` rounds of hashing."""
    fields: dict[str, Any] = dict(vocab_size=size.symbols + 1, d_model=size.width, d_head=size.width // 4, n_heads=4)
    fields |= dict(d_ff=2 * size.width, layers=("lsh",) * layers, axial=False, max_length=length or size.length)
    fields |= dict(lsh_chunk=chunk, n_hashes=rounds, dropout=0.0, local_dropout=0.0, head="causal_lm")
    return tfkit.from_config("reformer", **fields)


def duplicate_words(count: int, size: Size, generator: torch.Generator) -> dict[str, Tensor]:
    """0w0w, with labels for the second w only."""
    half = size.length // 2
    word = torch.randint(1, size.symbols + 1, (count, half - 1), generator=generator)
    ids = nn.functional.pad(word, (1, 0)).repeat(1, 2)
    return {"input_ids": ids, "labels": torch.cat([torch.full_like(ids[:, : half + 1], -100), word], 1)}


def run(seed: int, size: Size) -> Numbers:
    """Correct symbols by number of rounds, and with full attention; bytes by length."""

    def batches(generator):
        """Endless batches of new words."""
        while True:
            yield duplicate_words(size.batch, size, generator)

    trained = {"full": reformer(size, size.length), "hashed": reformer(size, size.chunk, rounds=2)}
    for model in trained.values():
        train(model, batches, size.steps, size.peak, seed)
    by_rounds = {rounds: reformer(size, size.chunk, rounds) for rounds in size.rounds}
    for model in by_rounds.values():
        model.load_state_dict(trained["hashed"].state_dict())
    return {
        "rounds": list(size.rounds),
        "hashed": [accuracy(model, size) for model in by_rounds.values()],
        "full": accuracy(trained["full"], size),
        "memory": memory(size),
    }


@torch.no_grad()
def accuracy(model: nn.Module, size: Size) -> float:
    """The share of correct symbols in the second w of 100 new texts."""
    batch = duplicate_words(100, size, torch.Generator().manual_seed(10_000))
    predicted = model.eval()(input_ids=batch["input_ids"]).logits[:, :-1].argmax(-1)
    labels = batch["labels"][:, 1:]
    return (predicted == labels)[labels != -100].float().mean().item()


def memory(size: Size) -> Numbers:
    """Peak bytes of a training step on one text, at each length."""
    found: Numbers = {"lengths": list(size.lengths), "reformer": [], "full": []}
    wide = dict(vocab_size=size.symbols + 1, d_model=size.width, n_heads=4, d_ff=2 * size.width, n_layers=2)
    for length in size.lengths:
        models = {
            "reformer": reformer(size, 2 * size.chunk, length=length, layers=2),
            "full": tfkit.from_config("gpt2", head="causal_lm", max_length=length, **wide),
        }
        ids = torch.randint(1, size.symbols, (1, length))
        for name, model in models.items():
            with sdpa_kernel(SDPBackend.MATH):
                found[name].append(peak_bytes(partial(step, model, ids)))
    return found


def step(model: nn.Module, ids: Tensor) -> None:
    """Gradients accumulate in the model: memory is measured, and nothing is learned."""
    model(input_ids=ids, labels=ids).loss.backward()


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Correct symbols with four rounds, and compared with one; the growth of memory with four times the length."""
    counts = runs[0]["memory"]["lengths"]
    near = counts.index(counts[-1] // 4)
    growth = lambda name: [run["memory"][name][-1] / run["memory"][name][near] for run in runs]
    ratio = f"{counts[-1]:,} tokens over {counts[near]:,}"
    more = [run["hashed"][2] - run["hashed"][0] for run in runs]
    return [
        Measurement(
            "share of correct symbols, four rounds of hashing", [run["hashed"][2] for run in runs], at_least=0.9
        ),
        Measurement("the same, four rounds minus one round", more, at_least=0),
        Measurement(f"Reformer's memory, {ratio}", growth("reformer"), at_most=5, unit="×"),
        Measurement(f"full attention's memory, {ratio}", growth("full"), at_least=9, unit="×"),
    ]


def draw(runs: Sequence[Numbers]):
    """Left: symbols right against rounds. Right: MiB against length, of the first seed only."""
    fig, (left, right) = figure(2)
    for run in runs:
        first = run is runs[0]
        left.plot(run["rounds"], run["hashed"], "o-", color="tab:blue", alpha=0.7, label="hashed" if first else None)
        left.axhline(run["full"], color="tab:orange", ls="--", label="full attention" if first else None)
    left.set(xlabel="rounds of hashing", ylabel="symbols right", ylim=(0, 1.03), xticks=runs[0]["rounds"])
    left.legend(loc="lower right")
    memory = runs[0]["memory"]
    for name, label, colour in (
        ("full", "GPT-2, all scores at once", "tab:orange"),
        ("reformer", "Reformer", "tab:blue"),
    ):
        right.plot(memory["lengths"], [n / 2**20 for n in memory[name]], "o-", color=colour, label=label)
    lengths(right, memory["lengths"], "MiB of a training step")
    right.legend()
    return fig
