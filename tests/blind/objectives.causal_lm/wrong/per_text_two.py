# averages per text first and then over the texts + shifts the wrong way: predicts the previous token
def causal_lm_loss(logits, ids, pad_id):
    lp = F.log_softmax(logits[:, 1:], dim=-1)
    y = ids[:, :-1]
    mask = (y != pad_id).to(lp.dtype)
    nll = -lp.gather(2, y.clamp(min=0).unsqueeze(-1)).squeeze(-1) * mask
    per_text = nll.sum(1) / mask.sum(1).clamp(min=1)
    return per_text.mean()
