"""Trains the model of one unit for a fixed number of steps, and measures it on held-out text."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.my_model.model import BYTES, ByteLanguageModel
from tfkit.data.translation import SentencePair, english_french

LENGTH, ROWS = 64, 16
LINE_BREAK = 10
PEAK = 2e-3  # the highest rate in every unit; up to unit 05 the only one


def measure(parts: ModuleType, unit: int, steps: int, seed: int = 0) -> dict[str, Any]:
    """Bits per byte on held-out text after `steps` steps, the bytes per second of processor time, and a line that the
    model writes, from unit 7 on."""
    model, seconds = train(parts, unit, steps, seed)
    tests = _windows(_texts()[1], 4 * ROWS, torch.Generator().manual_seed(0)).split(ROWS)
    with torch.no_grad():
        nats = sum(loss_of(model, batch).item() for batch in tests) / len(tests)
    found = {"bits_per_byte": nats / math.log(2), "bytes_per_second": steps * ROWS * LENGTH / seconds}
    return {**found, "seconds": seconds, "writes": write(parts, model) if unit >= 7 else ""}


def train(parts: ModuleType, unit: int, steps: int, seed: int = 0) -> tuple[ByteLanguageModel, float]:
    """The model of a unit after `steps` steps, ready to be measured, and the seconds of processor time they took.

    The seed draws the weights and the batches, and the optimizer and its highest rate are the same, so that two units
    differ in their parts alone: up to unit 05 the rate is constant, and from unit 06 on the student's schedule sets it.
    An untimed step on another model comes first: the first of a process imports what optimizers need.
    """
    batches = _windows(_texts()[0], steps * ROWS, torch.Generator().manual_seed(seed)).split(ROWS)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # of so small a model several threads only wait for one another, which is counted, too
    try:
        _train(parts, unit, ByteLanguageModel(parts, unit), batches[:1])
        torch.manual_seed(seed)
        model = ByteLanguageModel(parts, unit)
        started = time.process_time()
        _train(parts, unit, model, batches)
        seconds = time.process_time() - started
    finally:
        torch.set_num_threads(threads)
    return model.eval(), seconds


def loss_of(model: nn.Module, batch: Tensor) -> Tensor:
    """The mean cross-entropy, in nats, of each next byte. batch int64 [B,L+1] -> scalar"""
    return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


def _train(parts: ModuleType, unit: int, model: nn.Module, batches: tuple[Tensor, ...]) -> None:
    """From unit 6 on with the student's own loop and schedule, and before that with the plainest loop that learns."""
    optimizer = torch.optim.Adam(model.parameters(), lr=PEAK, betas=(0.9, 0.98))
    if unit < 6:
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
        return
    warmup = max(1, len(batches) // 5)
    top = parts.noam_rate(warmup, 64, warmup)

    def rate_at(step: int) -> float:
        """The student's schedule, scaled so that it peaks at PEAK."""
        return PEAK * float(parts.noam_rate(step, 64, warmup)) / top

    parts.train_loop(model, loss_of, batches, batches[:1], optimizer, rate_at, evaluate_every=len(batches))


def write(parts: ModuleType, model: nn.Module, length: int = 60) -> str:
    """A line by the model, drawn with the student's `sample_token`."""
    with torch.no_grad():
        ids = draw_line(parts, lambda ids: next_logits(model, ids), "", length - 1)
    return text_of(ids)


def next_logits(model: nn.Module, ids: Tensor) -> Tensor:
    """The logits [1,256] of the byte that follows ids [1,L], of which the model reads the last ones."""
    logits: Tensor = model(ids[:, -LENGTH:])[:, -1]
    return logits


def draw_line(
    parts: ModuleType, step: Callable[[Tensor], Tensor], prompt: str, max_new_bytes: int, seed: int = 0
) -> Tensor:
    """A line break, the prompt and at most `max_new_bytes` bytes more, up to a line break: int64 [1,L].

    `step(ids)` gives the next byte's logits; the student's `sample_token` draws from them at a temperature of 0.7.
    """
    ids, draw = torch.tensor([[LINE_BREAK, *prompt.encode()]]), torch.Generator().manual_seed(seed)
    for _ in range(max_new_bytes):
        token = parts.sample_token(step(ids), torch.rand(1, generator=draw), 0.7)
        ids = torch.cat([ids, token[:, None]], 1)
        if token.item() == LINE_BREAK:
            break
    return ids


def text_of(ids: Tensor) -> str:
    """The text of bytes [1,L], without the line breaks at its ends."""
    return bytes(ids[0].tolist()).decode("utf-8", errors="replace").strip("\n")


def _texts() -> tuple[Tensor, Tensor]:
    """Bytes of the interface strings of units 05 and 06, in English and French: to learn from, and held out."""
    corpus = english_french()
    return _bytes(corpus.train), _bytes(corpus.test)


def _bytes(pairs: list[SentencePair]) -> Tensor:
    text = "\n".join(line for pair in pairs for line in (pair.source, pair.target))
    ids = torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8).long()
    assert int(ids.max()) < BYTES
    return ids


def _windows(ids: Tensor, count: int, draw: torch.Generator) -> Tensor:
    """int64 [count,LENGTH+1], each from a place that was drawn."""
    starts = torch.randint(0, len(ids) - LENGTH, (count,), generator=draw)
    return ids[starts[:, None] + torch.arange(LENGTH + 1)]
