"""Future n-gram prediction (Qi et al. 2020, arXiv:2001.04063): not only the next word, the one after it too."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def future_ngram_loss(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """Stream n at position t is scored on the word n positions beyond the next.

    logits [N,B,T,V], targets [B,T] (targets[:, t]: what stream 0 predicts at t) -> scalar: the mean over streams of
    each stream's mean; a stream with nothing to predict is left out. If all targets are padding the loss is 0, with a
    gradient of zeros for the logits. ProphetNet's own code shifts in its attention.
    """
    losses = []
    for n, stream in enumerate(logits):  # [B,T,V]
        future = targets[:, n:]  # [B,T-n], empty where n >= T
        non_padding = future != pad_id
        if non_padding.any():
            losses.append(F.cross_entropy(stream[:, : future.size(1)][non_padding], future[non_padding]))
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
