# label at t scored by the logits at t instead of t - 1
def sequence_log_probs(logits, labels):
    logp = F.log_softmax(logits, dim=-1)
    keep = labels != -100
    safe = labels.masked_fill(~keep, 0)
    picked = logp.gather(-1, safe[..., None]).squeeze(-1)
    picked = picked * keep
    return picked[:, 1:].sum(-1)
