# one mean over the terms of all streams, instead of a mean of each stream
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    total = (logits * 0).sum()
    count = 0
    for n in range(min(N, T)):
        y = targets[:, n:]
        lp = F.log_softmax(logits[n, :, :T - n], dim=-1)
        nll = -lp.gather(-1, y.clamp(min=0)[..., None])[..., 0]
        keep = y != pad_id
        total = total + nll[keep].sum()
        count += int(keep.sum())
    return total / max(count, 1)
