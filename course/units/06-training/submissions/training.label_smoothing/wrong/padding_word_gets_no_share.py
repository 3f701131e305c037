"""The padding's word gets no share of the smoothing, as if it were not in the vocabulary.

Some toolkits do that. Here the shares go to all V words but the right one, the padding's included."""


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    others = log_p.sum(-1) - right - log_p[..., pad_id]
    loss = -(1 - smoothing) * right - smoothing / max(1, logits.size(-1) - 2) * others
    real = targets != pad_id
    return loss.masked_fill(~real, 0.0).sum() / real.sum()
