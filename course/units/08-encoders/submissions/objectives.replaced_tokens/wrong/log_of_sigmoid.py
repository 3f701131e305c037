"""You take the logarithm of a sigmoid that may have become 0: a detector that is very sure and wrong gets infinity."""


def replaced_token_detection_loss(logits, original, corrupted, mask):
    p = logits.sigmoid()
    losses = -(p.log()).where(original != corrupted, (1 - p).log())
    return losses.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1)
