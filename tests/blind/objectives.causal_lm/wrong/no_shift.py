# scores position t on token t: the shift is missing
def causal_lm_loss(logits, ids, pad_id):
    V = logits.size(-1)
    loss = F.cross_entropy(logits.reshape(-1, V), ids.reshape(-1), ignore_index=pad_id, reduction="sum")
    n = (ids != pad_id).sum()
    return loss / n.clamp(min=1)
