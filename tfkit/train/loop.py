"""One training loop: AdamW, a schedule, clipping, progress, checkpoints that resume exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.train.checkpoint import load_checkpoint, save_checkpoint
from tfkit.train.progress import Progress


class DivergedError(RuntimeError):
    """The loss is not a number any more."""


@dataclass
class History:
    """What happened: loss per step, how many steps were done in all, how fast; stopped by hand or not."""

    losses: list[float] = field(default_factory=list)
    steps: int = 0
    tokens_per_second: float = 0.0
    interrupted: bool = False


def fit(
    model: nn.Module,
    batches: Callable[[torch.Generator], Iterable[Any]],
    loss: Callable[[nn.Module, Any], Tensor],
    *,
    steps: int,
    rate: Callable[[int], float],
    clip: float = 1.0,
    weight_decay: float = 0.01,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    save_every: int = 500,
    progress: bool = True,
) -> History:
    """Train `model` for `steps` steps in all; `batches(generator)` gives one pass over the data, and is asked again.

    `rate(step)`, step from 1, is the learning rate. With `checkpoint` (a .safetensors file) the state is saved every
    `save_every` steps, at the end and at Ctrl-C; if the file exists, training goes on from there as if it had never
    stopped. An interrupt ends training, keeps the model as it is and returns. Raises DivergedError when the loss is not
    finite, ValueError when a pass holds no batch.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, weight_decay=weight_decay)
    done = load_checkpoint(checkpoint, model, optimizer) if checkpoint else 0
    if not done:
        torch.manual_seed(seed)  # dropout draws from the global generator
    history = History(steps=done)
    device = next(model.parameters()).device
    model.train()
    try:
        with Progress(steps, done, show=progress) as line:
            for batch in _stream(batches, seed, done, steps):
                batch = batch.to(device) if hasattr(batch, "to") else batch
                value = _step(model, batch, loss, optimizer, rate(history.steps + 1), clip, history.steps + 1)
                history.steps += 1
                history.losses.append(value)
                line.advance(value, getattr(batch, "tokens", 0))
                if checkpoint and history.steps % save_every == 0:
                    save_checkpoint(checkpoint, model, optimizer, history.steps)
    except KeyboardInterrupt:
        history.interrupted = True
    history.tokens_per_second = line.tokens_per_second
    if checkpoint:
        save_checkpoint(checkpoint, model, optimizer, history.steps)
    return history


def _stream(batches: Callable, seed: int, done: int, steps: int) -> Iterator[Any]:
    """Batches number `done`, `done + 1`, … of the endless sequence of passes; each pass has a generator of its own."""
    number, epoch = 0, 0
    while number < steps:
        before = number
        for batch in batches(torch.Generator().manual_seed(1_000_003 * seed + epoch)):
            if number >= steps:
                return
            if number >= done:  # those before were trained on already: they are drawn again and passed over
                yield batch
            number += 1
        if number == before:
            raise ValueError("a pass over the data gave no batch: there is nothing to train on")
        epoch += 1


def _step(
    model: nn.Module, batch: Any, loss: Callable, optimizer: torch.optim.Optimizer, lr: float, clip: float, number: int
) -> float:
    optimizer.zero_grad(set_to_none=True)
    value = loss(model, batch)
    found = value.item()
    if not math.isfinite(found):
        raise DivergedError(
            f"the loss is {found} at step {number} (learning rate {lr:.2g}): lower the rate or lengthen the warm-up; "
            "if it is so at step 1, look for a softmax over an empty row or a division by zero"
        )
    value.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.step()
    return found


@torch.no_grad()
def mean_loss(model: nn.Module, batches: Callable[[torch.Generator], Iterable[Any]], loss: Callable) -> float:
    """The loss over one pass, without learning from it; each batch counts by its tokens."""
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    device = next(model.parameters()).device
    for batch in batches(torch.Generator().manual_seed(0)):
        total, count = total + loss(model, batch.to(device)).item() * batch.tokens, count + batch.tokens
    model.train(was_training)
    return total / count
