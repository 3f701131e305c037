"""Your positions compete in one softmax; each is asked on its own, and any number of words may have been replaced."""


def replaced_token_detection_loss(logits, original, corrupted, mask):
    losses = -logits.log_softmax(-1) * (original != corrupted)
    return losses.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1)
