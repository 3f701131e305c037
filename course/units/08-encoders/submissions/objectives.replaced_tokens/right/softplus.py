import torch.nn.functional as F


def replaced_token_detection_loss(logits, original, corrupted, mask):
    sign = 1 - 2 * (original != corrupted).to(logits.dtype)
    losses = F.softplus(sign * logits) * mask
    return losses.sum() / max(int(mask.sum()), 1)
