# leaves out positions whose input is padding, instead of those whose target is (the first pad of each text is predicted)
def causal_lm_loss(logits, ids, pad_id):
    inputs, targets = ids[:, :-1], ids[:, 1:]
    V = logits.size(-1)
    ce = F.cross_entropy(logits[:, :-1].reshape(-1, V), targets.reshape(-1), reduction="none")
    mask = (inputs != pad_id).reshape(-1).to(ce.dtype)
    return (ce * mask).sum() / mask.sum().clamp(min=1)
