"""One training loop: AdamW, a schedule, clipping, accumulation, progress, checkpoints that resume exactly; on one
process or, with the same call, on many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, is_dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from tfkit.train.checkpoint import Checkpoint
from tfkit.train.metrics import Metrics
from tfkit.train.process_group import ALONE, ProcessGroup
from tfkit.train.progress import Progress

Loss = Callable[[nn.Module, Any], Tensor]
Batches = Callable[[torch.Generator], Iterable[Any]]


class DivergedError(RuntimeError):
    """The loss is not a number any more; `batch` is what it was computed on, `file` where that is kept, if anywhere."""

    batch: Any = None
    file: Path | None = None


@dataclass
class History:
    """What happened: loss per step, how many steps were done in all, how fast; stopped by hand or not."""

    losses: list[float] = field(default_factory=list)
    steps: int = 0
    tokens_per_second: float = 0.0
    interrupted: bool = False


def fit(
    model: nn.Module,
    batches: Batches,
    loss: Loss,
    *,
    steps: int,
    rate: Callable[[int], float],
    clip: float = 1.0,
    weight_decay: float = 0.01,
    accumulate: int = 1,
    precision: torch.dtype = torch.float32,
    average: AveragedModel | None = None,
    world: ProcessGroup = ALONE,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    save_every: int = 500,
    log: str | Path | None = None,
    progress: bool = True,
) -> History:
    """Train `model` for `steps` steps in all; `batches(generator)` gives one pass over the data, and is asked again.

    `rate(step)`, step from 1, is the learning rate. A step learns from `accumulate` batches together, each weighed by
    the targets in it, so that they count as one large batch; processes of a `world` likewise. `precision` bfloat16
    computes under autocast, weights stay float32. `average` (torch's AveragedModel) follows the weights.

    With `checkpoint` (a .safetensors file; a folder with many processes) the state is saved every `save_every` steps,
    at the end and at Ctrl-C; if it exists, training goes on from there as if it had never stopped. `log` is a folder
    for metrics.csv and TensorBoard. An interrupt ends training, keeps the model as it is and returns. Raises
    DivergedError when the loss is not finite, its batch kept; ValueError, TypeError for arguments that cannot be.
    """
    check_numbers(steps=steps, accumulate=accumulate, save_every=save_every)
    check_rates(rate, clip, weight_decay)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, weight_decay=weight_decay)
    state = Checkpoint(checkpoint, model, optimizer, average, world)
    done = state.load()
    if not done:
        torch.manual_seed(seed + world.rank)  # dropout draws from the global generator
    step = TrainingStep(model, loss, optimizer, clip, precision, world)
    model.train()
    with TrainingLog(steps, done, log, progress, world) as record:
        for group in _stream(batches, seed, done, steps, accumulate):
            number = record.history.steps + 1
            values = step(group, rate(number), number, checkpoint)
            if average is not None:
                average.update_parameters(model)
            record.add(values, group)
            if number % save_every == 0:
                state.save(number)
    state.save(record.history.steps)
    return record.history


def check_rates(rate: Callable[[int], float], clip: float, weight_decay: float) -> None:
    """Raises TypeError for a rate that is no function of the step, ValueError for the others out of their range."""
    if not callable(rate):
        raise TypeError(f"rate={rate!r}: give a function of the step, such as lambda step: {rate!r}")
    if clip <= 0 or weight_decay < 0:
        raise ValueError(f"clip={clip}, weight_decay={weight_decay}: above 0, and not below 0")


def check_numbers(**numbers: int) -> None:
    """Raises ValueError for what is no whole number from 1 on."""
    for name, value in numbers.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r}: must be a whole number, 1 at least")


class TrainingLog:
    """What a run tells of itself while it goes: its History, the line on the screen, the metrics. Ctrl-C ends the block
    and no more."""

    def __init__(self, steps: int, done: int, log: str | Path | None, progress: bool, world: ProcessGroup) -> None:
        self.history = History(steps=done)
        self.metrics = Metrics(log, done) if log and world.rank == 0 else None
        self.line = Progress(steps, done, show=progress and world.rank == 0)
        self.world = world

    def __enter__(self) -> TrainingLog:
        self.line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.line.__exit__(kind, error, trace)
        if self.metrics:
            self.metrics.close()
        self.history.tokens_per_second = self.line.tokens_per_second
        self.history.interrupted = isinstance(error, KeyboardInterrupt)
        return self.history.interrupted

    def add(self, values: dict[str, float], group: Sequence[Any]) -> None:
        """One step is done, of which `TrainingStep` gave the values."""
        self.history.steps += 1
        self.history.losses.append(values["loss"])
        self.line.advance(values["loss"], int(self.world.sum(sum(map(count_tokens, group)))))
        if self.metrics:
            self.metrics.write(self.history.steps, {**values, "tokens_per_second": self.line.tokens_per_second})


def _stream(batches: Batches, seed: int, done: int, steps: int, accumulate: int) -> Iterator[list[Any]]:
    """Groups number `done`, `done + 1`, … of batches from the endless sequence of passes; see `_passes`."""
    # those before were trained on already: they are drawn again and passed over
    endless = islice(_passes(batches, seed), done * accumulate, None)
    for _ in range(done, steps):
        yield list(islice(endless, accumulate))


def _passes(batches: Batches, seed: int) -> Iterator[Any]:
    """Pass after pass over the data, each with a generator of its own."""
    epoch = 0
    while True:
        batch = None
        for batch in batches(torch.Generator().manual_seed(1_000_003 * seed + epoch)):
            yield batch
        if batch is None:
            raise ValueError("a pass over the data gave no batch: there is nothing to train on")
        epoch += 1


@dataclass
class TrainingStep:
    """One update of the weights."""

    model: nn.Module
    loss: Loss
    optimizer: torch.optim.Optimizer
    clip: float
    precision: torch.dtype
    world: ProcessGroup

    def __call__(self, batches: Sequence[Any], rate: float, number: int, keep: str | Path | None) -> dict[str, float]:
        """-> the mean loss over all targets of all processes, the rate, the gradient's norm before it was clipped"""
        self.optimizer.zero_grad(set_to_none=True)
        targets = [count_targets(batch) for batch in batches]
        total = self.world.sum(sum(targets))
        found = 0.0
        for i, batch in enumerate(batches):
            # processes' gradients are averaged, so each counts `size` times its share
            share = targets[i] * self.world.size / total if total else 1.0 / len(batches)
            found += self.backward(batch, share, last=i == len(batches) - 1)
        mean = self.world.sum(found) / self.world.size
        if not math.isfinite(mean):
            raise divergence_error(mean, rate, number, batches, keep)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        norm = getattr(norm, "full_tensor", lambda: norm)()  # of sharded gradients it comes in parts
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return {"loss": mean, "rate": rate, "gradient_norm": norm.item()}

    def backward(self, batch: Any, share: float, last: bool) -> float:
        """Adds the gradient of one batch, its loss times `share`, which is returned."""
        batch = to_device(batch, self.world.device if self.world.size > 1 else next(self.model.parameters()).device)
        device = next(self.model.parameters()).device.type
        mixed = torch.autocast(device, self.precision, enabled=self.precision != torch.float32)
        quiet = nullcontext() if last else getattr(self.model, "no_sync", nullcontext)()
        with quiet:
            with mixed:
                value = self.loss(self.model, batch) * share
            value.backward()
        return value.item()


def divergence_error(
    loss: float, rate: float, number: int, batches: Sequence[Any], keep: str | Path | None
) -> DivergedError:
    """The error, with the batch that led to it, beside the checkpoint if there is one."""
    where = Path(f"{keep}.diverged.safetensors") if keep else None
    if where:
        where.parent.mkdir(parents=True, exist_ok=True)
        tensors = {f"{i}.{k}": v for i, batch in enumerate(batches) for k, v in fields(batch).items()}
        save_file({k: v.contiguous() for k, v in tensors.items() if isinstance(v, Tensor)}, str(where))
    error = DivergedError(
        f"the loss is {loss} at step {number} (learning rate {rate:.2g}): lower the rate or lengthen the warm-up; "
        "if it is so at step 1, look for a softmax over an empty row or a division by zero"
        + (f"; the batch is in {where}" if where else "")
    )
    error.batch, error.file = batches, where
    return error


def fields(batch: Any) -> dict[str, Any]:
    """A batch by names."""
    return batch if isinstance(batch, dict) else asdict(batch) if is_dataclass(batch) else {}  # type: ignore[arg-type]


def to_device(batch: Any, device: torch.device) -> Any:
    """The batch on a device."""
    if isinstance(batch, dict):
        return {name: value.to(device) for name, value in batch.items()}
    return batch.to(device) if hasattr(batch, "to") else batch


def count_targets(batch: Any) -> int:
    """How many predictions the mean loss of this batch is over; 1 where the batch does not say."""
    if isinstance(batch, dict) and "labels" in batch:
        return int((batch["labels"] != -100).sum())
    return getattr(batch, "targets", 1)


def count_tokens(batch: Any) -> int:
    """Tokens that are not padding; 0 where the batch does not say."""
    if isinstance(batch, dict):
        return int(batch["attention_mask"].sum()) if "attention_mask" in batch else batch["input_ids"].numel()
    return getattr(batch, "tokens", 0)


@torch.no_grad()
def mean_loss(model: nn.Module, batches: Batches, loss: Loss) -> float:
    """The loss over one pass, without learning from it; each batch counts by its targets."""
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    device = next(model.parameters()).device
    for batch in batches(torch.Generator().manual_seed(0)):
        targets = count_targets(batch)
        total, count = total + loss(model, to_device(batch, device)).item() * targets, count + targets
    model.train(was_training)
    return total / count
