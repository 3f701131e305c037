# the padding counts in the denominator: mean over all B*(L-1) positions
def causal_lm_loss(logits, ids, pad_id):
    logp = torch.log_softmax(logits, -1)
    total, count = logits.sum() * 0, 0
    for t in range(ids.shape[1] - 1):
        nxt = ids[:, t + 1]
        lp = logp[:, t].gather(-1, nxt.clamp(min=0)[:, None])[:, 0]
        total = total - torch.where(nxt == pad_id, torch.zeros_like(lp), lp).sum()
        count += len(nxt)
    return total / max(count, 1)
