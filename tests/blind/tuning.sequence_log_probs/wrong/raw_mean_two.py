# sums raw logits instead of log-probabilities + divides by the number of labels
def sequence_log_probs(logits, labels):
    shift_logits = logits[..., :-1, :].contiguous()
    shift_labels = labels[..., 1:].contiguous()
    m = shift_labels.ne(-100)
    picked = shift_logits.gather(-1, shift_labels.clamp_min(0).unsqueeze(-1)).squeeze(-1)
    return (picked * m).sum(-1) / m.sum(-1).clamp_min(1)
