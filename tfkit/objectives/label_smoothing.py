"""Label smoothing (Szegedy et al. 2016; Vaswani et al. 2017, 5.4): the target probability is 1 - smoothing instead of
1."""

from __future__ import annotations

from torch import Tensor


def label_smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float, pad_id: int) -> Tensor:
    """Cross-entropy against a softened target: 1 - smoothing for the right word, the rest shared by all others.

    logits [B,T,V], targets [B,T] -> scalar: the mean over the positions that are not pad_id
    """
    log_p = logits.log_softmax(-1)  # [B,T,V]
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # [B,T]
    others = log_p.sum(-1) - right
    loss = -(1 - smoothing) * right - smoothing / (logits.size(-1) - 1) * others
    non_padding = targets != pad_id
    return loss.masked_fill(~non_padding, 0.0).sum() / non_padding.sum().clamp(min=1)  # padding alone costs 0
