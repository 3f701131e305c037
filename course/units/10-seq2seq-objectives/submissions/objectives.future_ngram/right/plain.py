import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    losses = []
    for n, stream in enumerate(logits):
        future = targets[:, n:]
        real = future != pad_id
        if real.any():
            losses.append(F.cross_entropy(stream[:, : future.size(1)][real], future[real]))
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
