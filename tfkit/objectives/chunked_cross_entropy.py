"""Cross-entropy over a large vocabulary in chunks of rows: neither the logits [B,L,V] nor their gradient are held.

For 16 rows of 1,024 tokens and 50,257 words, the logits take 3.3 GB in float32, and their gradient as much again. Here
the gradient of a chunk is computed as soon as its logits are, in their place, and both are freed; so nothing is
computed twice, as recomputation would do (Hsu et al. 2024, arXiv:2410.10989; Wijmans et al. 2024, arXiv:2411.09009).

A chunk's logits take as many bytes as the gradient of the weight [V,E] to which the chunk contributes. With fewer rows
the gradient, a gigabyte for LLaMA's 128,256 words, would be read and written more often than need be.

In float16 all logits are held as ever.

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

MIN_BYTES = 2**28  # of a chunk's logits if the number of rows is not given, where the weight's gradient is smaller
PIECE = 2**23  # logits of a chunk that are in float32 at once
MAX_BLOCKS = 16  # in which the weight's gradient is converted to its dtype

PAD_TO_MULTIPLE_OF = {"cuda": 64}  # words, by type of device

rows_at_once: int | None = None  # within `chunked_logits`; 0: `rows_of_chunk`


@contextmanager
def chunked_logits(rows: int = 0) -> Iterator[None]:
    """In this context models compute their loss from `rows` rows of logits at a time, and return no logits. 0: as many
    rows as `rows_of_chunk` says. Models with a loss other than cross-entropy over words are not affected. Raises
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
        x, at, dtype = self.states.flatten(0, -2), labels.flatten(), product_dtype(self.states)
        if dtype == torch.float16:  # gradients of a sum, which autograd divides only afterwards, overflow there
            return self._whole_loss(x, at, ignored)
        rows = rows_at_once or rows_of_chunk(self.weight, dtype)
        given = [x, self.weight, self.bias]
        if not torch.is_grad_enabled():  # inside the function parameters would still be said to need gradients
            given = [t if t is None else t.detach() for t in given]
        total: Tensor = _TotalLoss.apply(*given, at, rows, ignored, self.cap)  # type: ignore[no-untyped-call]
        return total

    def _whole_loss(self, x: Tensor, labels: Tensor, ignored: int) -> Tensor:
        """x [N,E], labels [N] -> the same sum, from all logits at once"""
        logits = F.linear(x, self.weight, self.bias).float()
        if self.cap is not None:
            logits = self.cap * (logits / self.cap).tanh()
        return F.cross_entropy(logits, labels, ignore_index=ignored, reduction="sum")


def product_dtype(x: Tensor) -> torch.dtype:
    """The dtype of products with x: that of autocast within its context, which leaves float64 as it is."""
    kind = x.device.type
    autocast = torch.is_autocast_enabled(kind) and x.dtype != torch.float64
    return torch.get_autocast_dtype(kind) if autocast else x.dtype


def rows_of_chunk(weight: Tensor, dtype: torch.dtype) -> int:
    """weight [V,E] -> rows of logits in this dtype that take as many bytes as the weight's gradient, or `MIN_BYTES`"""
    return max(1, max(weight.nbytes, MIN_BYTES) // (weight.size(0) * dtype.itemsize))


class _TotalLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, rows: int, ignored: int,
        cap: float | None,
    ) -> Tensor:  # fmt: skip
        """x [N,E], labels [N] -> scalar. Saves the gradients of x, weight and bias, which are smaller than the
        logits."""
        wide, words, wanted = torch.promote_types(x.dtype, torch.float32), weight.size(0), ctx.needs_input_grad[:3]
        total = torch.zeros((), dtype=wide, device=x.device)
        of_weight = _new_gradient(weight, len(x)) if wanted[1] else None
        of_bias = torch.zeros_like(bias) if bias is not None and wanted[2] else None
        of_x = torch.empty_like(x) if wanted[0] else None
        narrow = product_dtype(x)
        with torch.autocast(x.device.type, enabled=False):  # its work is done here, once for all chunks
            padded, padded_bias = pad_vocabulary(weight, bias)
            padded, padded_bias = padded.to(narrow), None if padded_bias is None else padded_bias.to(narrow)
            for start in range(0, len(x), rows):
                here = slice(start, start + rows)
                counted, at = labels[here] != ignored, x[here].to(narrow)
                slope = F.linear(at, padded, padded_bias)  # the logits, each of which gives way to its derivative
                total += _loss_and_slope(slope, words, labels[here], counted, cap, wide, any(wanted))
                at = at.masked_fill(~counted[:, None], 0)  # rows are chosen in x, which is smaller than the slope
                if of_x is not None:
                    of_x[here] = (slope @ padded).masked_fill(~counted[:, None], 0)
                if of_weight is not None:
                    _accumulate(of_weight, slope, at, first=start == 0)
                if of_bias is not None:
                    of_bias += (counted.to(narrow) @ slope)[:words]
                del slope
        ctx.save_for_backward(of_x, of_weight, of_bias)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """grad: scalar -> the saved gradients, multiplied by it"""
        found = [None if kept is None else kept * grad.to(kept.dtype) for kept in ctx.saved_tensors]
        return *found, None, None, None, None


def _new_gradient(weight: Tensor, rows: int) -> Tensor:
    """weight [V,E] -> [V,E], to be filled by the first chunk; zeros if there is none"""
    return torch.empty_like(weight) if rows else torch.zeros_like(weight)


def pad_vocabulary(weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """weight [V,E], bias [V] or None -> both, on a GPU with rows of zeros up to a multiple of 64 words: its fast
    kernels take no matrix with 50,257 columns."""
    extra = -weight.size(0) % PAD_TO_MULTIPLE_OF.get(weight.device.type, 1)
    if not extra:
        return weight, bias
    return F.pad(weight, (0, 0, 0, extra)), None if bias is None else F.pad(bias, (0, extra))


def _loss_and_slope(
    logits: Tensor, words: int, labels: Tensor, counted: Tensor, cap: float | None, wide: torch.dtype, wanted: bool
) -> Tensor:
    """logits [R,V], of which the first `words` columns count, labels [R], counted bool [R] -> the summed loss. Where a
    derivative is wanted, it replaces the logits; it is correct where rows count.

    Passes over [R,V] are what this costs on a GPU, so `log_softmax` also converts to the wide dtype."""
    logits[:, words:].fill_(float("-inf"))
    at = labels.masked_fill(~counted, 0)[:, None]
    of_label, minus_one = torch.empty_like(at, dtype=wide), torch.full_like(at, -1, dtype=wide)
    # compiled, no float32 matrix is held anyway, and each piece that is written would copy the whole
    step = len(logits) if torch.compiler.is_compiling() else max(1, PIECE // logits.size(1))
    for start in range(0, len(logits), step):
        here = slice(start, start + step)
        scores, outer = logits[here], None
        if cap is not None:
            tanh = (scores.to(wide) / cap).tanh_()
            scores, outer = tanh * cap, 1 - tanh**2
            scores[:, words:].fill_(float("-inf"))
        logs = scores.log_softmax(-1, dtype=wide)
        of_label[here] = logs.gather(-1, at[here])
        if not wanted:
            continue
        slope = _derivative(logs, at[here], minus_one[here])
        logits[here] = slope if outer is None else slope.mul_(outer)
    return -of_label.squeeze(-1).masked_fill(~counted, 0).sum()  # a row that does not count may hold no number


def _derivative(logs: Tensor, at: Tensor, minus_one: Tensor) -> Tensor:
    """log-probabilities [R,V], labels and -1 [R,1] -> softmax minus one-hot [R,V]: in place, or compiled as one kernel,
    for which a scatter would need the matrix in memory"""
    if torch.compiler.is_compiling():
        return logs.exp() + minus_one * (torch.arange(logs.size(1), device=logs.device) == at)
    return logs.exp_().scatter_add_(-1, at, minus_one)


def _accumulate(of_weight: Tensor, slope: Tensor, x: Tensor, first: bool) -> None:
    """slope [R,V'], x [R,E]: adds slope^T x to the gradient [V,E], V' >= V; the first chunk writes it instead.

    A product in the gradient's own dtype adds it by itself. One in another dtype, of autocast, is converted some words
    at a time, since as a whole it would take half of the gradient's memory again."""
    words = of_weight.size(0)
    if slope.dtype == of_weight.dtype:
        of_weight.addmm_(slope[:, :words].t(), x, beta=0 if first else 1)
        return
    step = words if torch.compiler.is_compiling() else -(-words // MAX_BLOCKS)
    for start in range(0, words, step):
        block = slice(start, min(start + step, words))
        product = slope[:, block].t() @ x
        of_weight[block].copy_(product) if first else of_weight[block].add_(product)
