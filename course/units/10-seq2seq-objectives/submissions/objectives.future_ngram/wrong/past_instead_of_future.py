"""Your streams look back: stream n is scored on a word that came n places before.

Which of the two has to be cut at its beginning, and which at its end?"""

import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    losses = []
    for n, stream in enumerate(logits):
        future = targets[:, : max(0, targets.size(1) - n)]
        real = future != pad_id
        if real.any():
            losses.append(F.cross_entropy(stream[:, stream.size(1) - future.size(1) :][real], future[real]))
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
