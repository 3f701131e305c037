"""Cross-entropy over a large vocabulary in chunks of rows: neither the logits [B,L,V] nor their gradient are held.

For 16 rows of 1,024 tokens and 50,257 words, the logits take 3.3 GB in float32, and their gradient as much again. Here
the gradient of a chunk is computed as soon as its logits are, and both are freed; so nothing is computed twice, as
recomputation would do (Hsu et al. 2024, arXiv:2410.10989; Wijmans et al. 2024, arXiv:2411.09009).

    with chunked_logits():
        loss = model(**batch).loss  # the same loss and gradients; the output has no logits
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

NUMBERS = 2**25  # logits held at once if the number of rows is not given: 128 MiB in float32

PAD_TO_MULTIPLE_OF = {"cuda": 64}  # words, by type of device

rows_at_once: int | None = None  # within `chunked_logits`; 0: as many as NUMBERS allow


@contextmanager
def chunked_logits(rows: int = 0) -> Iterator[None]:
    """In this context models compute their loss from `rows` rows of logits at a time, and return no logits. 0: as many
    rows as make `NUMBERS` logits. Models with a loss other than cross-entropy over words are not affected. Raises
    ValueError for a negative number."""
    if rows < 0:
        raise ValueError(f"rows={rows}: must be 0, for a number that fits, or more")
    global rows_at_once
    before, rows_at_once = rows_at_once, rows
    try:
        yield
    finally:
        rows_at_once = before


@dataclass(frozen=True)
class DeferredLogits:
    """The factors of the logits: states [...,E], weight [V,E], bias [V] or None; cap: logits x become
    cap·tanh(x/cap)."""

    states: Tensor
    weight: Tensor
    bias: Tensor | None = None
    cap: float | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the logits."""
        return (*self.states.shape[:-1], self.weight.size(0))

    def total_loss(self, labels: Tensor, ignored: int) -> Tensor:
        """labels int64 [...] -> the sum of the losses over labels that are not `ignored`, in at least float32"""
        rows = rows_at_once or max(1, NUMBERS // self.weight.size(0))
        x, at = self.states.flatten(0, -2), labels.flatten()
        total: Tensor = _TotalLoss.apply(x, self.weight, self.bias, at, rows, ignored, self.cap)  # type: ignore[no-untyped-call]
        return total


class _TotalLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, rows: int, ignored: int,
        cap: float | None,
    ) -> Tensor:  # fmt: skip
        """x [N,E], labels [N] -> scalar. Saves the gradients of x, weight and bias, which are smaller than the
        logits."""
        wide = torch.promote_types(x.dtype, torch.float32)
        total = torch.zeros((), dtype=wide, device=x.device)
        wanted, words = ctx.needs_input_grad[:3], weight.size(0)
        weight, bias = pad_vocabulary(weight, bias)
        grads: list[Tensor | None] = [
            torch.zeros_like(t) if need and t is not None else None
            for t, need in zip((x, weight, bias), wanted, strict=True)
        ]
        for start in range(0, len(x), rows):
            here = slice(start, start + rows)
            counted = labels[here] != ignored
            logits = F.linear(x[here], weight, bias)
            narrow = logits.dtype
            loss, slope = _loss_and_slope(logits, words, labels[here], counted, cap, wide, any(wanted))
            del logits  # what is held from here on is its derivative
            total += loss
            if slope is not None:
                _add_gradients(grads, here, x, weight, slope.to(narrow), counted)
        of_x, *of_words = grads
        ctx.save_for_backward(of_x, *(None if grad is None else grad[:words] for grad in of_words))
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """grad: scalar -> the saved gradients, multiplied by it"""
        found = [None if kept is None else kept * grad.to(kept.dtype) for kept in ctx.saved_tensors]
        return *found, None, None, None, None


def pad_vocabulary(weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """weight [V,E], bias [V] or None -> both, on a GPU with rows of zeros up to a multiple of 64 words: its fast
    kernels take no matrix with 50,257 columns."""
    extra = -weight.size(0) % PAD_TO_MULTIPLE_OF.get(weight.device.type, 1)
    if not extra:
        return weight, bias
    return F.pad(weight, (0, 0, 0, extra)), None if bias is None else F.pad(bias, (0, extra))


def _loss_and_slope(
    logits: Tensor, words: int, labels: Tensor, counted: Tensor, cap: float | None, wide: torch.dtype, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """logits [R,V], of which the first `words` columns count, labels [R], counted bool [R] -> the summed loss, and its
    derivative at the logits [R,V], which is correct where rows count.

    Passes over [R,V] are what this costs on a GPU, so `log_softmax` also converts to the wide dtype."""
    outer = None
    if cap is not None:
        logits = logits.to(wide).div_(cap).tanh_()
        outer = 1 - logits**2
        logits = logits.mul_(cap)
    logits[:, words:].fill_(float("-inf"))
    at = labels.masked_fill(~counted, 0)[:, None]
    logs = logits.log_softmax(-1, dtype=wide)
    loss = -(logs.gather(-1, at).squeeze(-1) * counted).sum()
    if not wanted:
        return loss, None
    slope = logs.exp_().scatter_add_(-1, at, torch.full_like(at, -1, dtype=wide))
    return loss, slope if outer is None else slope.mul_(outer)


def _add_gradients(
    grads: list[Tensor | None], here: slice, x: Tensor, weight: Tensor, slope: Tensor, counted: Tensor
) -> None:
    """Adds the contribution of the rows `here`, slope [R,V], to the gradients of x [N,E], weight [V,E] and bias [V].

    counted bool [R]: the rows that contribute. They are chosen in x, which is smaller than the slope."""
    of_x, of_weight, of_bias = grads
    if of_x is not None:
        of_x[here] = (slope @ weight) * counted[:, None]
    if of_weight is not None:
        of_weight += slope.t() @ (x[here] * counted[:, None])
    if of_bias is not None:
        of_bias += counted.to(slope.dtype) @ slope
