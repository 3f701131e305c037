"""You leave out the positions that stand on padding; left out are those that have padding to predict.

The last real word of a row must not be asked what follows it."""

import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    real = ids[:, :-1] != pad_id
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, reduction="none")
    return losses[real].sum() / real.sum().clamp(min=1)
