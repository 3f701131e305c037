"""Trains the playground's model on its sentences and on the prose of the course: about eight minutes on one core.

`tfkit.train.fit` has AdamW alone: these layers are trained by Muon.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn

import tfkit
from course import units
from course.notebook import source_notebook

from . import ROOT, START
from .corpus import texts

VOCABULARY, LENGTH, ROWS = 2048, 64, 16
RATE = 3e-3
FIELDS = dict(
    vocab_size=VOCABULARY, d_model=128, n_layers=4, n_heads=4, d_ff=320, max_length=LENGTH, tie_word_embeddings=True,
    bos_token_id=0, eos_token_id=0,
)  # fmt: skip
NOT_PROSE = re.compile(r"```.*?```|### BEGIN.*?### END[^\n]*|<[^>]+>|\$\$.*?\$\$", re.S)


def prose() -> list[str]:
    """One to three sentences each from the lessons and the handbook, without code, tables, formulas or mark schemes."""
    cells = [
        cell.source for folder in units() for cell in source_notebook(folder).cells if cell.cell_type == "markdown"
    ]
    pages = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "docs").glob("*.md"))]
    found = []
    for text in cells + pages:
        for block in re.split(r"\n\s*\n", NOT_PROSE.sub("", text)):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block).replace("*", "").replace("`", "")
            if re.match(r"[A-Z]", plain) and not re.search(r"[|$#\\]", plain):
                sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", " ".join(plain.split()))
                found += [" ".join(sentences[at : at + 3]) for at in range(0, len(sentences), 3)]
    return [one for one in found if 20 < len(one) < 400]


def learn_vocabulary(written: list[str]) -> Tokenizer:
    """A byte-level BPE, which reads any text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[START], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(written, trainer)
    return tokenizer


def batches(tokenizer: Tokenizer, seed: int, written: list[str]) -> Iterator[Tensor]:
    """int64 [ROWS,LENGTH] without end: texts one after the other, each after START, which every row begins with."""
    source, rows = texts(seed, written), []
    while True:
        row: list[int] = []
        while len(row) < LENGTH:
            row += [0, *tokenizer.encode(next(source)).ids]
        rows.append(row[:LENGTH])
        if len(rows) == ROWS:
            yield torch.tensor(rows)
            rows = []


def optimizers_for(model: nn.Module) -> list[torch.optim.Optimizer]:
    """Muon (Jordan et al. 2024) for the matrices of the layers, AdamW for the rest."""
    inner = [weight for name, weight in model.named_parameters() if weight.dim() == 2 and "embed" not in name]
    rest = [weight for name, weight in model.named_parameters() if weight.dim() != 2 or "embed" in name]
    return [
        torch.optim.Muon(inner, lr=RATE, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=RATE, betas=(0.9, 0.98), weight_decay=0.05),
    ]


def rate_at(step: int, steps: int) -> float:
    """The learning rate of a step from 0: linear up to RATE over 100 steps, and along a cosine down to a fiftieth."""
    cosine = (1 + math.cos(math.pi * step / steps)) / 2
    return RATE * min(1.0, (step + 1) / 100, max(cosine, 0.02))


def learn_from(model: nn.Module, optimizers: list[torch.optim.Optimizer], ids: Tensor, rate: float) -> None:
    """A step on ids [ROWS,LENGTH]."""
    model(ids, labels=ids).loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()


def train(steps: int, seed: int = 0) -> tuple[nn.Module, Tokenizer]:
    """The model after so many steps of training, and its tokenizer."""
    torch.manual_seed(seed)
    written = prose()
    made = texts(seed, [])
    tokenizer = learn_vocabulary([next(made) for _ in range(40_000)] + written)
    model = tfkit.from_config("llama", head="causal_lm", **FIELDS)
    optimizers = optimizers_for(model)
    for step, ids in zip(range(steps), batches(tokenizer, seed + 1, written), strict=False):
        learn_from(model, optimizers, ids, rate_at(step, steps))
        if step % 100 == 0:
            print(f"step {step} of {steps}, loss {model(ids, labels=ids).loss.item():.3f}", flush=True)
    return model.eval(), tokenizer
