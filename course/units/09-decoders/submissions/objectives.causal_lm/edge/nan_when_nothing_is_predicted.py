"""Where there is nothing to predict, your loss is NaN: a mean over no words at all.

One text of a single word would end the training."""
# keeps 0.846 of the points

import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=pad_id)
