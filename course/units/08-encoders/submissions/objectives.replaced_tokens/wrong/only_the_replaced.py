"""You count only replaced words; a detector that always cries "replaced" would be perfect.

That every position teaches is the point of this objective.
"""

import torch.nn.functional as F


def replaced_token_detection_loss(logits, original, corrupted, mask):
    counted = mask & (original != corrupted)
    losses = F.softplus(-logits)
    return losses.masked_fill(~counted, 0.0).sum() / counted.sum().clamp(min=1)
