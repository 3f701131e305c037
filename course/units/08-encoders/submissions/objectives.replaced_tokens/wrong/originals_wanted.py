"""Your target is 1 where the word is the author's; a positive logit should say: replaced."""

import torch.nn.functional as F


def replaced_token_detection_loss(logits, original, corrupted, mask):
    same = (original == corrupted).to(logits.dtype)
    losses = F.binary_cross_entropy_with_logits(logits, same, reduction="none")
    return losses.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1)
