"""Where a stream has nothing to predict, your loss is NaN: a mean over no places at all.

One short sentence would end the training."""
# keeps 0.846 of the points

import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    losses = []
    for n, stream in enumerate(logits):
        future = targets[:, n:]
        real = future != pad_id
        losses.append(F.cross_entropy(stream[:, : future.size(1)][real], future[real]))
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
