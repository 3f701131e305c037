# logits of the right words by gather minus logsumexp, counted with a 0/1 weight
def causal_lm_loss(logits, ids, pad_id):
    nxt = ids[:, 1:].unsqueeze(-1)
    lg = logits[:, :-1]
    nll = lg.logsumexp(-1) - lg.gather(-1, nxt).squeeze(-1)       # [B, L-1]
    real = nxt.squeeze(-1).ne(pad_id)
    n = real.sum().clamp(min=1)
    return nll.masked_fill(~real, 0.0).sum() / n
