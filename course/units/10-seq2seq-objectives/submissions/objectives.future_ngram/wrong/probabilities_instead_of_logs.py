"""You average probabilities, not their logarithms.

A word that was given no chance at all costs hardly more than an unlikely one."""

import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    losses = []
    for n, stream in enumerate(logits):
        future = targets[:, n:]
        real = future != pad_id
        if real.any():
            losses.append(-stream.softmax(-1)[:, : future.size(1)][real].gather(1, future[real][:, None]).mean())
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
