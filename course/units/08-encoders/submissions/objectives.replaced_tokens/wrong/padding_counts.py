"""Your mean is over all positions; padding was neither written by the author nor replaced."""

import torch.nn.functional as F


def replaced_token_detection_loss(logits, original, corrupted, mask):
    return F.binary_cross_entropy_with_logits(logits, (original != corrupted).to(logits.dtype))
