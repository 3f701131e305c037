def causal_lm_loss(logits, ids, pad_id):
    log_p = logits[:, :-1].log_softmax(-1)
    wanted = ids[:, 1:]
    right = log_p.gather(-1, wanted.unsqueeze(-1)).squeeze(-1)
    real = (wanted != pad_id).to(logits.dtype)
    return -(right * real).sum() / real.sum().clamp(min=1)
