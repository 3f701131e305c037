# each position is scored on its own token, not on the next one
def causal_lm_loss(logits, ids, pad_id):
    V = logits.size(-1)
    if (ids == pad_id).all():
        return logits.sum() * 0
    return F.cross_entropy(logits.view(-1, V), ids.view(-1), ignore_index=pad_id)
