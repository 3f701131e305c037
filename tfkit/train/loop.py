"""One training loop: AdamW, a schedule, clipping, accumulation, progress, checkpoints that resume exactly; on one
process or, with the same call, on many."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field, is_dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from tfkit.train.checkpoint import Checkpoint
from tfkit.train.metrics import Metrics
from tfkit.train.process_group import ALONE, ProcessGroup
from tfkit.train.progress import Progress
from tfkit_course.interrupt import Interrupt

Loss = Callable[[nn.Module, Any], Tensor]
Batches = Callable[[torch.Generator], Iterable[Any]]
BatchT = TypeVar("BatchT")


class DivergedError(RuntimeError):
    """The loss or its gradient is not finite. batch: the batch that caused it; file: where it was saved, or None."""

    batch: Any = None
    file: Path | None = None


@dataclass
class History:
    """The course of a run: loss per step, number of steps in all, speed, and whether it was stopped by hand."""

    losses: list[float] = field(default_factory=list)
    steps: int = 0
    tokens_per_second: float = 0.0
    interrupted: bool = False


def fit(
    model: nn.Module, batches: Batches, loss: Loss, *, steps: int, rate: Callable[[int], float], clip: float = 1.0,
    weight_decay: float = 0.01, accumulate: int = 1, precision: torch.dtype = torch.float32,
    average: AveragedModel | None = None, process_group: ProcessGroup = ALONE, fused: bool | None = None, seed: int = 0,
    checkpoint: str | Path | None = None, save_every: int = 500, log: str | Path | None = None, progress: bool = True,
) -> History:  # fmt: skip
    """Train `model` for `steps` steps in all; each call of `batches(generator)` gives one pass over the data.

    `rate(step)`, step from 1, is the learning rate. A step accumulates the gradients of `accumulate` batches, weighted
    by their numbers of targets, as if they were one large batch; the processes of a `process_group` likewise.
    `precision` bfloat16 computes under autocast; weights stay float32. `average` (torch's AveragedModel) follows the
    weights. fused: AdamW as one kernel, which is faster and rounds differently; one process only; by default on a GPU.

    With `checkpoint` (a .safetensors file; a folder with many processes) the state is saved every `save_every` steps,
    at the end and at Ctrl-C; if it exists, training resumes exactly as if it had never stopped. `log` is a folder for
    metrics.csv and TensorBoard. Ctrl-C ends training after the current step and returns with the model as it is; a
    second one ends it at once, in the middle of the step, whose state is not saved. Raises DivergedError when the loss
    or its gradient is not finite, after saving the batch; ValueError or TypeError for invalid arguments.
    """
    check_settings(rate, clip, weight_decay, steps=steps, accumulate=accumulate, save_every=save_every)
    check_kinds(batches, precision)
    optimizer = adamw(model, weight_decay, process_group, fused)
    state = Checkpoint(checkpoint, model, optimizer, average, process_group)
    if not (done := state.load()):
        torch.manual_seed(seed + process_group.rank)  # dropout draws from the global generator
    step = TrainingStep(model, loss, optimizer, clip, precision, process_group, average)
    model.train()
    stream = prefetch(_stream(batches, seed, done, steps, accumulate), step.device)
    record = TrainingLog(steps, done, log, progress, process_group)
    with Interrupt() as interrupt, record, closing(stream):
        try:
            for number, group in enumerate(stream, done + 1):
                record.add(step(group, rate(number), number, checkpoint))
                if number % save_every == 0:
                    record.read()
                    state.save(number)
                if interrupt.requested:
                    record.history.interrupted = True
                    break
        finally:
            record.read()
        state.save(record.history.steps)  # not after a second Ctrl-C, which may have come in the middle of a step
    return record.history


def check_settings(rate: Callable[[int], float], clip: float, weight_decay: float, **numbers: int) -> None:
    """Raises TypeError for a rate that is not a function of the step; ValueError for a clip or weight decay out of
    range, and for one of the numbers that is not a positive integer."""
    if not callable(rate):
        raise TypeError(f"rate={rate!r}: pass a function of the step, such as lambda step: {rate!r}")
    if clip <= 0 or weight_decay < 0:
        raise ValueError(f"clip={clip}, weight_decay={weight_decay}: above 0, and not below 0")
    for name, value in numbers.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r}: must be a whole number, at least 1")


def check_kinds(batches: Any, precision: Any) -> None:
    """Raises TypeError for batches that are not a function of a generator, and for a precision that is not a dtype."""
    if not callable(batches):
        kind = type(batches).__name__
        raise TypeError(f"batches is of type {kind}: pass a function of a generator, such as lambda generator: batches")
    if not isinstance(precision, torch.dtype):
        raise TypeError(f"precision={precision!r}: pass torch.float32 or torch.bfloat16")


class TrainingLog:
    """Reports on training in progress: its History, the progress line, the metrics. Ctrl-C ends the block without an
    error. On a GPU the results of a step are read when the next one has been started, because reading waits for the
    GPU."""

    def __init__(
        self, steps: int, done: int, log: str | Path | None, progress: bool, process_group: ProcessGroup
    ) -> None:
        self.history = History(steps=done)
        self.metrics = Metrics(log, done) if log and process_group.rank == 0 else None
        self.line = Progress(steps, done, show=progress and process_group.rank == 0)
        self.process_group = process_group
        self.unread: TakenStep | None = None

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
        self.history.interrupted |= isinstance(error, KeyboardInterrupt)
        return isinstance(error, KeyboardInterrupt)

    def add(self, taken: TakenStep) -> None:
        """Adds a step. Raises DivergedError if the previous step (on a CPU, this one) had a loss that is not finite."""
        self.read()
        self.unread = taken
        if taken.loss.device.type == "cpu":
            self.read()

    def read(self) -> None:
        """Adds the results of the last step to history and metrics."""
        taken, self.unread = self.unread, None
        if taken is None:
            return
        values, group = taken.values(), taken.batches
        self.history.steps += 1
        self.history.losses.append(values["loss"])
        self.line.advance(values["loss"], int(self.process_group.sum(sum(map(count_tokens, group)))))
        if self.metrics:
            self.metrics.write(self.history.steps, {**values, "tokens_per_second": self.line.tokens_per_second})


def _stream(batches: Batches, seed: int, done: int, steps: int, accumulate: int) -> Iterator[list[Any]]:
    """Groups number `done`, `done + 1`, … of batches from the endless sequence of passes; see `_passes`."""
    # earlier batches were used before the resume: they are drawn again and skipped
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
            raise ValueError("the data gave no batch: there is nothing to train on")
        epoch += 1


def prefetch(stream: Iterator[list[Any]], device: torch.device) -> Generator[list[Any]]:
    """The same groups of batches; for a GPU a thread prepares them ahead in pinned memory, while the GPU works. A CPU
    has no idle time: there they are prepared on demand."""
    if device.type != "cuda":
        yield from stream
        return
    waiting: queue.Queue[Any] = queue.Queue(maxsize=2)
    stop = threading.Event()

    def offer(item: Any) -> None:
        while not stop.is_set():
            with suppress(queue.Full):
                return waiting.put(item, timeout=0.1)

    def make() -> None:
        try:
            for group in stream:
                offer([pin(batch) for batch in group])
                if stop.is_set():
                    return
            offer(None)
        except BaseException as error:  # any error is raised again in the thread that uses the batches
            offer(error)

    threading.Thread(target=make, daemon=True).start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()


def pin(batch: BatchT) -> BatchT:
    """The batch in pinned memory, from which a GPU copies by itself; batches other than dictionaries are unchanged."""
    if isinstance(batch, dict):
        return cast(BatchT, {name: value.pin_memory() for name, value in batch.items()})
    return batch


def adamw(
    model: nn.Module, weight_decay: float, process_group: ProcessGroup, fused: bool | None = None
) -> torch.optim.AdamW:
    """The optimizer; if `fused`, by default on one GPU, it is one kernel, which itself skips a step whose loss or
    gradient is not finite. Raises ValueError for a fused one with several processes."""
    if fused and process_group.size > 1:
        raise ValueError("fused=True: with one process only")
    if fused is None:
        fused = process_group.size == 1 and next(model.parameters()).device.type == "cuda"
    how: dict[str, Any] = {"fused": True} if fused else {}
    return torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, weight_decay=weight_decay, **how)


@dataclass
class TakenStep:
    """The results of a step: loss and gradient_norm are scalars that the GPU may still be computing."""

    loss: Tensor
    gradient_norm: Tensor
    rate: float
    number: int
    batches: Sequence[Any]
    keep: str | Path | None

    def values(self) -> dict[str, float]:
        """The mean loss over all targets of all processes, the learning rate, and the gradient's norm before clipping.
        Waits for the GPU. Raises DivergedError if the loss or the norm is not finite."""
        loss, norm = self.loss.item(), self.gradient_norm.item()
        if not (math.isfinite(loss) and math.isfinite(norm)):
            found = f"the gradient's norm is {norm}" if math.isfinite(loss) else f"the loss is {loss}"
            raise divergence_error(found, self.rate, self.number, self.batches, self.keep)
        return {"loss": loss, "rate": self.rate, "gradient_norm": norm}


@dataclass
class TrainingStep:
    """One update of the weights, and of their average, that never waits for a GPU; a loss or gradient that is not
    finite changes no weight."""

    model: nn.Module
    loss: Loss
    optimizer: torch.optim.Optimizer
    clip: float
    precision: torch.dtype
    process_group: ProcessGroup
    average: AveragedModel | None = None

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return self.process_group.device if self.process_group.size > 1 else next(self.model.parameters()).device

    def __call__(self, batches: Sequence[Any], rate: float, number: int, keep: str | Path | None) -> TakenStep:
        """batches: the loss is the mean over all of them. Raises DivergedError for a loss or gradient that is not
        finite, if the optimizer cannot skip the step itself."""
        self.optimizer.zero_grad(set_to_none=True)
        targets = [count_targets(batch) for batch in batches]
        total = self.process_group.sum(sum(targets))
        found = torch.zeros((), device=self.device)
        for i, batch in enumerate(batches):
            # gradients are averaged over processes, so each share is multiplied by `size`
            share = targets[i] * self.process_group.size / total if total else 1.0 / len(batches)
            found = found + self.backward(batch, share, last=i == len(batches) - 1)
        if self.process_group.size > 1:
            found = torch.tensor(self.process_group.sum(found.item()) / self.process_group.size)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        norm = getattr(norm, "full_tensor", lambda: norm)().detach()  # the norm of sharded gradients is sharded too
        taken = TakenStep(found, norm, rate, number, batches, keep)
        if self.optimizer.defaults.get("fused"):
            self.optimizer.found_inf = (~(found + norm).isfinite()).float()  # type: ignore[attr-defined]
        else:
            taken.values()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        if self.average is not None:
            self.average.update_parameters(self.model)
        return taken

    def backward(self, batch: Any, share: float, last: bool) -> Tensor:
        """Adds the gradient of one batch, for its loss times `share` -> that product, detached, []"""
        batch = to_device(batch, self.device)
        mixed = torch.autocast(self.device.type, self.precision, enabled=self.precision != torch.float32)
        quiet = nullcontext() if last else getattr(self.model, "no_sync", nullcontext)()
        with quiet:
            with mixed:
                value = self.loss(self.model, batch) * share
            value.backward()
        return value.detach()


def divergence_error(
    found: str, rate: float, number: int, batches: Sequence[Any], keep: str | Path | None
) -> DivergedError:
    """The error, which begins with what was found; the batch that caused it is saved beside the checkpoint, if there is
    one."""
    where = Path(f"{keep}.diverged.safetensors") if keep else None
    if where:
        where.parent.mkdir(parents=True, exist_ok=True)
        tensors = {f"{i}.{k}": v for i, batch in enumerate(batches) for k, v in fields(batch).items()}
        save_file({k: v.contiguous() for k, v in tensors.items() if isinstance(v, Tensor)}, str(where))
    error = DivergedError(
        f"{found} at step {number} (learning rate {rate:.2g}): lower the rate or lengthen the warm-up; "
        "if it happens at step 1, look for a softmax over an empty row or a division by zero"
        + (f"; the batch is in {where}" if where else "")
    )
    error.batch, error.file = batches, where
    return error


def fields(batch: Any) -> dict[str, Any]:
    """A batch as a dictionary."""
    return batch if isinstance(batch, dict) else asdict(batch) if is_dataclass(batch) else {}  # type: ignore[arg-type]


def to_device(batch: BatchT, device: torch.device) -> BatchT:
    """The batch on a device."""
    if isinstance(batch, dict):
        return cast(BatchT, {name: value.to(device, non_blocking=True) for name, value in batch.items()})
    return cast(BatchT, batch.to(device)) if hasattr(batch, "to") else batch


def count_targets(batch: Any) -> int:
    """The number of predictions in the mean loss of this batch; 1 if the batch does not say."""
    if isinstance(batch, dict) and "labels" in batch:
        return int((batch["labels"] != -100).sum())
    return getattr(batch, "targets", 1)


def count_tokens(batch: Any) -> int:
    """The number of tokens without padding; 0 if the batch does not say."""
    if isinstance(batch, dict):
        ids = batch.get("attention_mask", batch.get("input_ids"))
        return 0 if ids is None else int(ids.sum()) if "attention_mask" in batch else ids.numel()
    return getattr(batch, "tokens", 0)


@torch.no_grad()
def mean_loss(model: nn.Module, batches: Batches, loss: Loss) -> float:
    """The mean loss over one pass without training; each batch is weighted by its number of targets."""
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    device = next(model.parameters()).device
    for batch in batches(torch.Generator().manual_seed(0)):
        targets = count_targets(batch)
        total, count = total + loss(model, to_device(batch, device)).item() * targets, count + targets
    model.train(was_training)
    return total / count
