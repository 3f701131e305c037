"""You measure the squared distance from 0 or 1; a logit has no such target, and cross-entropy is asked for."""


def replaced_token_detection_loss(logits, original, corrupted, mask):
    replaced = (original != corrupted).to(logits.dtype)
    losses = (logits.sigmoid() - replaced) ** 2
    return losses.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1)
