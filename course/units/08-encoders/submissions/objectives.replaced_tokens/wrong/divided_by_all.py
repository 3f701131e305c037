"""You leave padding out of the sum and still divide by the number of all positions: more padding, smaller loss."""

import torch.nn.functional as F


def replaced_token_detection_loss(logits, original, corrupted, mask):
    replaced = (original != corrupted).to(logits.dtype)
    losses = F.binary_cross_entropy_with_logits(logits, replaced, reduction="none")
    return losses.masked_fill(~mask, 0.0).mean()
