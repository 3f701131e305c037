"""Cross-entropy as all that predict tokens or classes use it: over what is labelled, in float32 at least."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .chunked_cross_entropy import DeferredLogits


def cross_entropy(
    logits: Tensor | DeferredLogits, labels: Tensor, smoothing: float = 0.0, *, ignored: int = -100
) -> Tensor:
    """logits [...,N], labels [...] -> scalar: the mean over the labels that are not `ignored`; over none it is 0.

    smoothing: what a wrong class gets in all (Szegedy et al. 2016); torch gives the right one a share of its smoothing
    too, hence N / (N - 1).
    """
    check_labels(logits, labels)
    if isinstance(logits, DeferredLogits):
        return logits.total_loss(check_classes(labels, logits.shape[-1], ignored), ignored) / count(labels, ignored)
    classes = logits.size(-1)
    wide = logits.flatten(0, -2).to(torch.promote_types(logits.dtype, torch.float32))  # float64 stays what it is
    shared = smoothing * classes / (classes - 1) if smoothing else 0.0
    try:
        total = F.cross_entropy(wide, labels.flatten(), ignore_index=ignored, label_smoothing=shared, reduction="sum")
    except IndexError:  # only a failed look-up pays for finding out which it was
        check_classes(labels, classes, ignored)
        raise
    return total / count(labels, ignored)


def count(labels: Tensor, ignored: int) -> Tensor:
    """How many labels are counted; 1 at least."""
    return (labels != ignored).sum().clamp(min=1)


def check_classes(labels: Tensor, classes: int, ignored: int) -> Tensor:
    """labels, where they are classes or `ignored`; where looking would mean waiting it is not looked at. Raises
    ValueError that names another."""
    if labels.device.type == "cpu" and not torch.compiler.is_compiling():
        wrong = (labels != ignored) & ((labels < 0) | (labels >= classes))
        if bool(wrong.any()):
            found = labels[wrong][0].item()
            raise ValueError(f"labels hold {found}: classes go from 0 to {classes - 1}, {ignored} is not counted")
    return labels


def check_labels(logits: Tensor | DeferredLogits, labels: Tensor) -> None:
    """Raises TypeError unless labels are integers in a tensor, ValueError unless there is one for each row."""
    if not isinstance(labels, torch.Tensor):
        raise TypeError(f"labels are a {type(labels).__name__}: give a tensor, torch.as_tensor(labels)")
    if labels.shape != logits.shape[:-1]:
        raise ValueError(f"labels have shape {list(labels.shape)}; wanted is {list(logits.shape[:-1])}")
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise TypeError(f"labels are {labels.dtype}: classes are integers")


def next_labels(labels: Tensor) -> Tensor:
    """labels [...,L] -> [...,L]: at each position that of the next, at the last -100.

    Moving the labels, where one might cut the last logits off, spares a copy of [B,L,V] there and back. Raises
    TypeError, ValueError for what cannot be labels.
    """
    if not isinstance(labels, torch.Tensor):
        raise TypeError(f"labels are a {type(labels).__name__}: give a tensor, torch.as_tensor(labels)")
    if labels.dim() == 0:
        raise ValueError("labels have shape []; there must be one for each token")
    return F.pad(labels[..., 1:], (0, 1), value=-100)
