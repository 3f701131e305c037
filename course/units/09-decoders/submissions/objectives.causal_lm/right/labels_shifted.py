import torch
import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    labels = torch.full_like(ids, -100)
    labels[:, :-1] = ids[:, 1:]
    labels[labels == pad_id] = -100
    losses = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    return losses.sum() / (labels != -100).sum().clamp(min=1)
