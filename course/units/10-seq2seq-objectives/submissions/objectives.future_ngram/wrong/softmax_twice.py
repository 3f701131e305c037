"""Your logits go through softmax twice: `cross_entropy` does it itself.

Nothing crashes; the gradient just nearly vanishes."""

import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    losses = []
    for n, stream in enumerate(logits.softmax(-1)):
        future = targets[:, n:]
        real = future != pad_id
        if real.any():
            losses.append(F.cross_entropy(stream[:, : future.size(1)][real], future[real]))
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
