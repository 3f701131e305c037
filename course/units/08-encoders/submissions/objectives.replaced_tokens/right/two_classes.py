import torch
import torch.nn.functional as F


def replaced_token_detection_loss(logits, original, corrupted, mask):
    both = torch.stack([torch.zeros_like(logits), logits], 1)  # a logit is the difference of two
    targets = (original != corrupted).long().masked_fill(~mask, -100)
    return F.cross_entropy(both, targets, ignore_index=-100, reduction="sum") / mask.sum().clamp(min=1)
