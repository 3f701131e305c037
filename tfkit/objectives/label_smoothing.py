"""Label smoothing (Szegedy et al. 2016; Vaswani et al. 2017, 5.4): do not be surer than 1 - smoothing."""

import torch
import torch.nn.functional as F


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    """Cross-entropy against a softened target: 1 - smoothing for the right word, the rest shared by all others.

    logits [B,T,V], targets [B,T] -> scalar: the mean over the positions that are not pad_id
    """
    log_p = logits.log_softmax(-1)  # [B,T,V]
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # [B,T]
    others = log_p.sum(-1) - right
    loss = -(1 - smoothing) * right - smoothing / (logits.size(-1) - 1) * others
    real = targets != pad_id
    return loss.masked_fill(~real, 0.0).sum() / real.sum()


def seq2seq_loss(logits, labels, smoothing=0.0):
    """The same in one fused call, for training: logits [B,T,V], labels [B,T] with -100 where nothing counts -> scalar.

    torch gives the right word a share of the smoothing too, hence V / (V - 1). Nothing to predict at all gives 0.
    """
    vocab = logits.size(-1)
    shared = smoothing * vocab / (vocab - 1)
    wide = logits.flatten(0, 1).to(torch.promote_types(logits.dtype, torch.float32))  # float64 stays what it is
    total = F.cross_entropy(wide, labels.flatten(), ignore_index=-100, label_smoothing=shared, reduction="sum")
    return total / (labels != -100).sum().clamp(min=1)
