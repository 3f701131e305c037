# log-softmax by hand, gather, counts as python ints
def causal_lm_loss(logits, ids, pad_id):
    B, L, V = logits.shape
    flat = logits[:, : L - 1].reshape(B * (L - 1), V)
    nxt = ids[:, 1:].reshape(-1)
    scored = torch.nonzero(nxt != pad_id).flatten()
    if len(scored) == 0:
        return 0.0 * logits.sum()
    z = flat[scored]
    y = nxt[scored]
    nll = torch.logsumexp(z, dim=1) - z[torch.arange(len(y)), y]
    return nll.sum() / len(y)
