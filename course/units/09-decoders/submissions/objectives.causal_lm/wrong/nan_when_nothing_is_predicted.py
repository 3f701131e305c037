"""Where there is nothing to predict, your loss is NaN: a mean over no words at all.

One text of a single word would end the training."""

import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    real = wanted != pad_id
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, reduction="none")
    return losses[real].mean()
