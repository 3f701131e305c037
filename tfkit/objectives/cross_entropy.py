"""Cross-entropy as all that predict tokens or classes use it: over what is labelled, in float32 at least."""

import torch
import torch.nn.functional as F


def cross_entropy(logits, labels, smoothing=0.0, *, ignored=-100):
    """logits [...,N], labels [...] -> scalar: the mean over the labels that are not `ignored`; over none it is 0.

    smoothing: what a wrong class gets in all (Szegedy et al. 2016); torch gives the right one a share of its smoothing
    too, hence N / (N - 1).
    """
    classes = logits.size(-1)
    wide = logits.flatten(0, -2).to(torch.promote_types(logits.dtype, torch.float32))  # float64 stays what it is
    shared = smoothing * classes / (classes - 1) if smoothing else 0.0
    total = F.cross_entropy(wide, labels.flatten(), ignore_index=ignored, label_smoothing=shared, reduction="sum")
    return total / (labels != ignored).sum().clamp(min=1)


def next_labels(labels):
    """labels [...,L] -> [...,L]: at each position that of the next, at the last -100.

    Moving the labels, where one might cut the last logits off, spares a copy of [B,L,V] there and back.
    """
    return F.pad(labels[..., 1:], (0, 1), value=-100)
