"""You use the logits as if they were log-probabilities already.

Add a number to all logits of a position: the model says the same, but your loss changes."""


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    log_p = logits
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    others = log_p.sum(-1) - right
    loss = -(1 - smoothing) * right - smoothing / (logits.size(-1) - 1) * others
    real = targets != pad_id
    return loss.masked_fill(~real, 0.0).sum() / real.sum()
