"""You average within each row first, so a word in a short row weighs more than one in a long row."""

import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    losses = []
    for n, stream in enumerate(logits):
        future = targets[:, n:]
        real = future != pad_id
        if real.any():
            rows = [
                F.cross_entropy(s[r], f[r]) for s, f, r in zip(stream[:, : future.size(1)], future, real) if r.any()
            ]
            losses.append(torch.stack(rows).mean())
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
