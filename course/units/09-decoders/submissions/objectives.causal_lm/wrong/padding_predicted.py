"""You ask the model to predict padding.

Padding is easy to guess, so the loss looks better the more of it there is."""

import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, reduction="none")
    return losses.sum() / max(wanted.numel(), 1)
