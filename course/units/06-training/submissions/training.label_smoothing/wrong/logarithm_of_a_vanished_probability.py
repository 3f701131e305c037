"""You take the softmax first and the logarithm afterwards: where a probability is too small for a float, the logarithm is infinite.

Together they need not pass through a number that small."""


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    log_p = logits.softmax(-1).log()
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    others = log_p.sum(-1) - right
    loss = -(1 - smoothing) * right - smoothing / (logits.size(-1) - 1) * others
    real = targets != pad_id
    return loss.masked_fill(~real, 0.0).sum() / real.sum()
