"""The scores of words and the cross-entropy of all models that predict tokens or classes: over labelled positions, in
at least float32."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from . import chunked_cross_entropy
from .chunked_cross_entropy import DeferredLogits


def word_scores(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """states [...,E], weight [V,E], bias [V] -> logits [...,V], or `DeferredLogits` inside `chunked_logits`"""
    if chunked_cross_entropy.rows_at_once is None:
        return F.linear(states, weight, bias)
    return DeferredLogits(states, weight, bias)


def cross_entropy(
    logits: Tensor | DeferredLogits, labels: Tensor, smoothing: float = 0.0, *, ignored: int = -100
) -> Tensor:
    """logits [...,N], labels [...] -> scalar: the mean over the labels that are not `ignored`; 0 if there are none.

    smoothing: the total probability of the wrong classes (Szegedy et al. 2016); torch's argument includes a share for
    the right class, hence N / (N - 1).
    """
    check_labels(logits, labels)
    if isinstance(logits, DeferredLogits):
        return logits.total_loss(check_classes(labels, logits.shape[-1], ignored), ignored) / count(labels, ignored)
    classes = logits.size(-1)
    wide = logits.flatten(0, -2).to(torch.promote_types(logits.dtype, torch.float32))  # float64 stays float64
    shared = smoothing * classes / (classes - 1) if smoothing else 0.0
    try:
        total = F.cross_entropy(wide, labels.flatten(), ignore_index=ignored, label_smoothing=shared, reduction="sum")
    except IndexError:  # only a failed look-up pays for the search for its cause
        check_classes(labels, classes, ignored)
        raise
    return total / count(labels, ignored)


def count(labels: Tensor, ignored: int) -> Tensor:
    """The number of counted labels; at least 1."""
    return (labels != ignored).sum().clamp(min=1)


def check_classes(labels: Tensor, classes: int, ignored: int) -> Tensor:
    """The labels, if all of them are classes or `ignored`; devices on which the check would have to wait skip it.
    Raises ValueError that names a wrong label."""
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
        raise ValueError(f"labels have shape {list(labels.shape)}; expected {list(logits.shape[:-1])}")
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise TypeError(f"labels are {labels.dtype}: classes are integers")


def next_labels(labels: Tensor) -> Tensor:
    """labels [...,L] -> [...,L]: each position gets the label of the next one, and the last position -100.

    Shifting the labels instead of cutting off the last logits saves copying [B,L,V] in both directions. Raises
    TypeError or ValueError for invalid labels.
    """
    if not isinstance(labels, torch.Tensor):
        raise TypeError(f"labels are a {type(labels).__name__}: give a tensor, torch.as_tensor(labels)")
    if labels.dim() == 0:
        raise ValueError("labels have shape []; there must be one label for each token")
    return F.pad(labels[..., 1:], (0, 1), value=-100)
